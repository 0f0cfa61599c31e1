// Rules for assets/js and tests/js: what eslint recommends, unused names, and equality without conversion.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["scripts.js", "vendor/", "node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: { ...globals.browser } },
    rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error", "no-implicit-globals": "error", "no-eval": "error" },
  },
];
