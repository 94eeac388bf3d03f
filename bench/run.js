// Runs one benchmark by name: npm run bench -- NAME [options]
const [name] = process.argv.slice(2);
const known = ["startup"];
if (!known.includes(name)) {
	console.error(`usage: npm run bench -- ${known.join("|")}`);
	process.exit(3);
}
await import(`./${name}.js`);
