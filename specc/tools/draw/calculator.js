// The memory that a model takes: weights once, and a cache for every sequence. `data` is in the page, as JSON.
const data = JSON.parse(document.getElementById('memory').textContent);
const form = document.getElementById('calculator');

function cacheBytes(tokens, sequences, dtype, reachable) {
  let values = 0;
  for (const one of data.cache) {
    const held = reachable && one.reach !== null ? Math.min(tokens, one.reach) : tokens;
    values += one.times * (one.fixed + one.per_token * held + one.per_source * tokens);
  }
  return Math.round(values * data.bytes[dtype]) * sequences;
}

function sized(bytes) {
  for (const [unit, power] of [['TiB', 40], ['GiB', 30], ['MiB', 20], ['KiB', 10]]) {
    if (bytes >= 2 ** power) return `${(bytes / 2 ** power).toPrecision(4).replace(/\.?0+$/, '')} ${unit}`;
  }
  return `${bytes} B`;
}

function show() {
  const given = new FormData(form);
  const [tokens, sequences] = ['tokens', 'sequences'].map((name) => Math.max(0, Math.floor(Number(given.get(name)) || 0)));
  const cache = cacheBytes(tokens, sequences, given.get('cache'), given.has('reachable'));
  const weights = Math.round(data.stored * data.bytes[given.get('weights')]);
  for (const [name, bytes] of [['cache', cache], ['weights', weights], ['all', cache + weights]]) {
    const cell = document.getElementById(`${name}-bytes`);
    cell.textContent = sized(bytes);
    cell.title = `${bytes.toLocaleString('en')} bytes`;
    cell.dataset.bytes = bytes;
  }
  const share = cache + weights ? (100 * weights) / (cache + weights) : 100;
  document.getElementById('weights-bar').style.width = `${share}%`;
}

form.addEventListener('input', show);
show();
