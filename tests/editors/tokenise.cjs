// Tokenises files with VS Code's own TextMate engine: node tokenise.cjs NODE_MODULES GRAMMAR < JSON list of files > JSON.
// Out comes, for every file, a list of [line from 0, first column, behind the last column, innermost scope].
const fs = require('fs');
const path = require('path');

const [modules, grammarFile] = process.argv.slice(2);
const textmate = require(path.join(modules, 'vscode-textmate'));
const oniguruma = require(path.join(modules, 'vscode-oniguruma'));

async function main() {
  await oniguruma.loadWASM(fs.readFileSync(path.join(modules, 'vscode-oniguruma', 'release', 'onig.wasm')).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(grammarFile, 'utf8'), 'grammar.json'),
  });
  const grammar = await registry.loadGrammar('source.specc');
  const found = {};
  for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    let state = textmate.INITIAL;
    found[file] = [];
    fs.readFileSync(file, 'utf8').split('\n').forEach((line, number) => {
      const result = grammar.tokenizeLine(line, state);
      state = result.ruleStack;
      for (const token of result.tokens) {
        if (token.scopes.length > 1) found[file].push([number, token.startIndex, token.endIndex, token.scopes]);
      }
    });
  }
  process.stdout.write(JSON.stringify(found));
}

main();
