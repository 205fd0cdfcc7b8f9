// Builds dist/: the extension, the views' scripts and style, and (with --test) the tests.
import { readdirSync } from "node:fs";
import { build } from "esbuild";

const release = !process.argv.includes("--test");
const common = { bundle: true, outdir: "dist", minify: release, sourcemap: release ? false : "inline", logLevel: "warning" };
const node = { ...common, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };

await build({ ...node, entryPoints: { extension: "src/host/extension.ts" } });
await build({ ...common, platform: "browser", format: "iife", target: "es2022", entryPoints: { view: "src/view/main.ts", tree: "src/view/tree.ts", style: "src/view/style.css" } });

if (!release) {
  const units = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  await build({ ...node, outdir: "dist/test", entryPoints: units.map((name) => `test/unit/${name}`) });
  await build({ ...node, outdir: "dist/test", entryPoints: { inhost: "test/inhost/index.ts" } });
}
