// Prints what JavaScript reads in each file of a folder, one JSON object a line.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { pathToFileURL } from 'node:url';

const folder = process.argv[2];
for (const file of fs.readdirSync(folder)) {
  const full = path.join(folder, file);
  let data;
  if (file.endsWith('.mjs')) {
    data = (await import(pathToFileURL(full))).default;
  } else if (file.endsWith('.jsonp')) {
    let calls = 0;
    vm.runInNewContext(fs.readFileSync(full, 'utf8'), { feeds: { show: d => { calls++; data = d; } } });
    if (calls !== 1) throw new Error(`${file} calls ${calls} times`);
  } else {
    continue;
  }
  console.log(JSON.stringify({ file, data }));
}
