// Bundle assets/js into assets/scripts.js with its source map; a line in it names the sources it was made from.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes("--check");
const { outputFiles } = await build({
  entryPoints: [join(folder, "js/main.js")],
  outfile: join(folder, "scripts.js"),
  bundle: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  minify: true,
  sourcemap: true,
  legalComments: "none",
  write: false,
});
const stale = [];
for (const { path, contents } of outputFiles) {
  if (!check) writeFileSync(path, contents);
  else if (!readFileSync(path).equals(Buffer.from(contents))) stale.push(relative(folder, path));
}
const sources = readdirSync(join(folder, "js"), { recursive: true }).map(String).filter((name) => name.endsWith(".js")).sort();
const sum = createHash("sha256");
for (const name of sources) sum.update(name.split(sep).join("/") + "\0").update(readFileSync(join(folder, "js", name))).update("\0");
const digest = sum.digest("hex") + "\n";
if (!check) writeFileSync(join(folder, "scripts.sha256"), digest);
else if (readFileSync(join(folder, "scripts.sha256"), "utf8") !== digest) stale.push("scripts.sha256");
if (stale.length) {
  console.error(`${stale.join(", ")} is older than assets/js; run make scripts`);
  process.exit(1);
}
