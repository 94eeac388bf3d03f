/** Programs that a job carries with it, as text. */
declare module "*.py" {
	const text: string;
	export = text;
}
