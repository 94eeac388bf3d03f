/** The codes of problems that the sources can give, found by the types: no list of helper functions to keep. */
import ts from "typescript";

const ROOT = new URL("../../../", import.meta.url).pathname;
const FOLDERS = ["src", "state", "constructs"];

/** Zod's own word for an issue that carries our code in its `params`. */
const ZOD = new Set(["custom"]);

/**
 * Text literals, alone or in a union, of three kinds of expressions: what stands for a property `code`, what is
 * passed for a parameter `code`, and the element `code` of a tuple such as `Parameters<Report>`.
 */
export function sourceCodes(): ReadonlySet<string> {
	const files = ts.sys
		.readDirectory(ROOT, [".ts"], ["node_modules", "dist", "test"])
		.filter((file) => FOLDERS.some((folder) => file.startsWith(`${ROOT}${folder}/`)));
	const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
	const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
	const program = ts.createProgram(files, options);
	const checker = program.getTypeChecker();
	const codes = new Set<string>();

	/** The texts that an expression can be, as far as the types tell. */
	const texts = (expression: ts.Expression): readonly string[] => {
		// To the checker these two are just text.
		if (ts.isTemplateExpression(expression))
			return expression.templateSpans.reduce(spanTexts, [expression.head.text]);
		if (ts.isBinaryExpression(expression)) return [expression.left, expression.right].flatMap(texts);
		const type = checker.getTypeAtLocation(expression);
		return (type.isUnion() ? type.types : [type]).flatMap((one) =>
			one.isStringLiteral() ? [one.value] : [],
		);
	};
	const spanTexts = (before: readonly string[], { expression, literal }: ts.TemplateSpan) =>
		before.flatMap((head) => texts(expression).map((text) => `${head}${text}${literal.text}`));
	const add = (expression: ts.Expression) => {
		for (const text of texts(expression)) if (!ZOD.has(text)) codes.add(text);
	};
	const tupleLabels = (type: ts.Type | undefined): readonly (string | undefined)[] => {
		if (!type || !checker.isTupleType(type)) return [];
		const { labeledElementDeclarations = [] } = (type as ts.TupleTypeReference).target;
		return labeledElementDeclarations.map((label) => label?.name.getText());
	};
	const visit = (node: ts.Node) => {
		if (ts.isPropertyAssignment(node) && node.name.getText() === "code") add(node.initializer);
		if (ts.isCallExpression(node)) {
			const parameters = checker.getResolvedSignature(node)?.parameters ?? [];
			const argument = node.arguments[parameters.findIndex(({ name }) => name === "code")];
			if (argument) add(argument);
		}
		if (ts.isArrayLiteralExpression(node)) {
			const element = node.elements[tupleLabels(checker.getContextualType(node)).indexOf("code")];
			if (element) add(element);
		}
		ts.forEachChild(node, visit);
	};
	const wanted = new Set(files);
	for (const file of program.getSourceFiles()) if (wanted.has(file.fileName)) visit(file);
	return codes;
}
