// Copies the grammar, which is kept once for all editors, to where the package can hold it.
const fs = require('fs');
const path = require('path');

fs.mkdirSync(path.join(__dirname, 'syntaxes'), { recursive: true });
fs.copyFileSync(path.join(__dirname, '..', 'specc.tmLanguage.json'), path.join(__dirname, 'syntaxes', 'specc.tmLanguage.json'));
