// node validate_openapi.mjs FILE: exits 1 with what is wrong if it is no valid OpenAPI document.
import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";

const document = JSON.parse(await readFile(process.argv[2], "utf8"));
const validator = new Validator();
const outcome = await validator.validate(document);
if (!outcome.valid) {
  console.error(JSON.stringify(outcome.errors, null, 2));
  process.exit(1);
}
console.log(validator.version);
