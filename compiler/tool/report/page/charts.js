// The drawings of the page.

const at = id => document.getElementById(id);
const indices = columns.map((column, i) => i);
const hasRepeats = columns.some(column => column.role === 'parameter' && column.name === 'rep');
const isDrawn = i => columns[i].kind !== 'text' && columns[i].role !== 'reason' && !columns[i].constant && columns[i].cells.some(cell => cell !== null) &&
    !(hasRepeats && columns[i].role === 'parameter' && columns[i].name === 'seed');
const drawn = indices.filter(isDrawn);
const isNumber = i => columns[i].kind === 'number';
const firstOf = (role, ...others) => drawn.find(i => columns[i].role === role && isNumber(i)) ??
    drawn.find(i => columns[i].role === role) ?? others[0];
const rows = Array.from({length: data.shown}, (unused, row) => row);
const kept = new Map();  // column: the part of its axis that is kept, from 0 to 1
let shown = rows;

function fill(select, choices, chosen, onChange) {
  select.replaceChildren(...choices.map(i => {
    const option = document.createElement('option');
    option.value = i;
    option.textContent = columns[i].name;
    option.selected = i === chosen;
    return option;
  }));
  select.onchange = onChange;
}

/** Paths of what `path(row)` draws, one for each colour. */
function colouredPaths(list, colours, cells, path, attributes) {
  const byColour = new Map();
  for (const row of list) {
    const colour = colours(cells[row]);
    if (!byColour.has(colour)) byColour.set(colour, []);
    byColour.get(colour).push(path(row));
  }
  return [...byColour].map(([colour, parts]) => node('path', {d: parts.join(''), stroke: colour, fill: 'none', ...attributes}));
}

const opacityOf = count => Math.min(0.9, Math.max(0.05, 24 / count ** 0.62));

// ---- parallel coordinates

const mostAxes = 24;
const redrawers = [];  // what follows the choice of rows

function drawParallel() {
  const host = at('parallel'), axes = drawn.slice(0, mostAxes), height = 360;
  const width = Math.max(host.clientWidth, 110 * axes.length);
  if (axes.length < 2) return void (host.textContent = 'Less than two columns vary.');
  const [left, top, right, bottom] = [56, 46, width - 56, height - 14];
  const svg = drawing(host, width, height, `Parallel coordinates: a line for each ${each}, an axis for each column`);
  const xs = axes.map((column, k) => left + (right - left) * k / (axes.length - 1));
  const scales = axes.map(column => columnAxis(columns[column], 6));
  const yOf = (k, row) => {
    const share = scales[k].at(columns[axes[k]].cells[row]);
    return share === null ? null : bottom - share * (bottom - top);
  };
  const ys = axes.map((column, k) => rows.map(row => yOf(k, row)));
  const path = row => {
    let text = '', before = null;
    for (let k = 0; k < axes.length; ++k) {
      const y = ys[k][row];
      if (y !== null) text += `${before === null ? 'M' : 'L'}${xs[k].toFixed(1)},${y.toFixed(1)}`;
      before = y;
    }
    return text;
  };
  const lines = node('g'), picked = node('path', {class: 'picked'}), brushes = node('g');
  svg.append(lines, picked, brushes);
  axes.forEach((column, k) => drawAxis(svg, columns[column], scales[k], xs[k], top, bottom));
  const redraw = () => {
    const column = columns[Number(at('colour').value)], opacity = opacityOf(shown.length);
    const rest = kept.size ? rows.map(path).join('') : '';
    lines.replaceChildren(node('path', {class: 'axis', d: rest, opacity: 0.5}),
                          ...colouredPaths(shown, columnColours(column), column.cells, path, {opacity}));
    brushes.replaceChildren(...[...kept].filter(([column]) => axes.includes(column)).map(([column, [low, high]]) =>
        node('rect', {class: 'chosen', x: xs[axes.indexOf(column)] - 9, y: bottom - high * (bottom - top), width: 18,
                      height: Math.max((high - low) * (bottom - top), 1)})));
  };
  redrawers.push(redraw);
  redraw();
  pickLines(svg, picked, xs, ys, path);
  axes.forEach((column, k) => brush(svg, column, xs[k], top, bottom));
  if (drawn.length > mostAxes)
    host.append(`${drawn.length - mostAxes} more columns are not drawn here; Across and Up have them.`);
}

function drawAxis(svg, column, scale, x, top, bottom) {
  svg.append(node('path', {class: 'axis', d: `M${x},${top}V${bottom}`}),
             node('text', {class: 'name', x, y: top - 26, 'text-anchor': 'middle'},
                  node('title', {}, column.name), shortened(column.name, 15)),
             node('text', {x, y: top - 12, 'text-anchor': 'middle'}, column.log ? 'logarithmic' : ''));
  for (const [value, text] of spread(scale, bottom - top, 15))
    svg.append(node('text', {class: 'value', x: x + 6, y: bottom - scale.at(value) * (bottom - top) + 4}, text));
}

function pickLines(svg, picked, xs, ys, path) {
  svg.addEventListener('pointermove', event => {
    if (event.buttons) return;
    const [x, y] = placeIn(svg, event);
    const k = Math.min(Math.max(xs.findIndex(axis => axis > x) - 1, 0), xs.length - 2);
    const share = Math.min(Math.max((x - xs[k]) / (xs[k + 1] - xs[k]), 0), 1);
    let best = -1, distance = 7;
    for (const row of shown) {
      const [from, to] = [ys[k][row], ys[k + 1][row]];
      if (from === null || to === null) continue;
      const off = Math.abs(from + (to - from) * share - y);
      if (off < distance) [best, distance] = [row, off];
    }
    picked.setAttribute('d', best < 0 ? '' : path(best));
    if (best < 0) hideTip(); else showTip(event, rowText(best));
  });
  svg.addEventListener('pointerleave', () => { picked.setAttribute('d', ''); hideTip(); });
}

function brush(svg, column, x, top, bottom) {
  const area = node('rect', {x: x - 12, y: top - 6, width: 24, height: bottom - top + 12, fill: 'transparent', style: 'cursor:ns-resize'});
  const shareOf = event => Math.min(Math.max((bottom - placeIn(svg, event)[1]) / (bottom - top), 0), 1);
  let begin = null;
  area.addEventListener('pointerdown', event => {
    begin = shareOf(event);
    area.setPointerCapture(event.pointerId);
    hideTip();
  });
  area.addEventListener('pointermove', event => {
    if (begin === null) return;
    const end = shareOf(event);
    if (Math.abs(end - begin) * (bottom - top) < 4) kept.delete(column);
    else kept.set(column, [Math.min(begin, end), Math.max(begin, end)]);
    choose();
  });
  area.addEventListener('pointerup', event => {
    if (Math.abs(shareOf(event) - begin) * (bottom - top) < 4) kept.delete(column);
    begin = null;
    choose();
  });
  svg.append(area);
}

function choose() {
  const tests = [...kept].map(([column, [low, high]]) => [columnAxis(columns[column]), columns[column].cells, low, high]);
  shown = rows.filter(row => tests.every(([axis, cells, low, high]) => {
    const share = axis.at(cells[row]);
    return share !== null && share >= low - 1e-9 && share <= high + 1e-9;
  }));
  for (const redraw of redrawers) redraw();
}

// ---- scatter

function drawScatter() {
  const host = at('scatter'), width = Math.min(host.clientWidth, 860), height = 430;
  const box = [74, 34, width - 150, height - 44], [left, top, right, bottom] = box;
  const svg = drawing(host, width, height, `Scatter: a dot for each ${each}`);
  const [across, up, by] = ['across', 'up', 'colour'].map(id => columns[Number(at(id).value)]);
  const [xs, ys] = [columnAxis(across, 8), columnAxis(up, 7)];
  const where = row => {
    const [x, y] = [xs.at(across.cells[row]), ys.at(up.cells[row])];
    return x === null || y === null ? null : [left + x * (right - left), bottom - y * (bottom - top)];
  };
  frame(svg, box, xs, ys, across.name, up.name);
  const dots = node('g', {'stroke-linecap': 'round', 'stroke-width': data.shown > 1500 ? 3 : 5}), picked = node('circle', {class: 'picked', r: 6, cx: -99});
  svg.append(dots, picked);
  const redraw = () => dots.replaceChildren(...colouredPaths(shown, columnColours(by), by.cells, row => {
    const place = where(row);
    return place === null ? '' : `M${place[0].toFixed(1)},${place[1].toFixed(1)}h0`;
  }, {opacity: Math.max(0.6, opacityOf(shown.length))}));
  redrawers.push(redraw);
  redraw();
  legend(svg, by, right + 34, top);
  svg.addEventListener('pointermove', event => {
    const [x, y] = placeIn(svg, event);
    let best = -1, distance = 12;
    for (const row of shown) {
      const place = where(row), off = place === null ? 99 : Math.hypot(place[0] - x, place[1] - y);
      if (off < distance) [best, distance] = [row, off];
    }
    const place = best < 0 ? [-99, 0] : where(best);
    picked.setAttribute('cx', place[0]);
    picked.setAttribute('cy', place[1]);
    if (best < 0) hideTip(); else showTip(event, rowText(best));
  });
  svg.addEventListener('pointerleave', () => { picked.setAttribute('cx', -99); hideTip(); });
}

function legend(svg, column, x, y) {
  const axis = columnAxis(column), colours = columnColours(column), height = 180;
  svg.append(node('text', {class: 'name', x, y: y - 10}, shortened(column.name, 16)));
  if (column.kind === 'category') {
    column.names.slice(0, 14).forEach((name, i) => svg.append(
        node('circle', {cx: x + 5, cy: y + 10 + 18 * i, r: 4.5, fill: colours(i)}),
        node('text', {x: x + 16, y: y + 14 + 18 * i}, shortened(name, 16))));
    return;
  }
  for (let i = 0; i <= steps; ++i)
    svg.append(node('rect', {x, y: y + height * (1 - (i + 1) / (steps + 1)), width: 12, height: height / (steps + 1) + 0.5, fill: rampColour(i / steps)}));
  for (const [value, text] of axis.ticks)
    svg.append(node('text', {x: x + 18, y: y + height * (1 - axis.at(value)) + 4}, text));
}

// ---- a result over each parameter by itself

function drawMarginals() {
  const host = at('marginals'), result = Number(at('result').value);
  const own = data.marginals.filter(one => one.result === result && isDrawn(one.parameter));
  if (!own.length) return void (host.textContent = 'No result is a number, or no parameter varies.');
  host.replaceChildren(...own.map(() => document.createElement('div')));
  own.forEach((one, i) => drawMarginal(host.children[i], one, columns[one.parameter], columns[result]));
}

function drawMarginal(host, marginal, parameter, result) {
  const width = Math.max(host.clientWidth, 200), height = 190;
  const box = [58, 12, width - 14, height - 40], [left, top, right, bottom] = box;
  const across = columnAxis(parameter, 5), up = columnAxis(result, 6);
  const svg = drawing(host, width, height, `${result.name} over ${parameter.name}: mean, least and greatest`);
  const isCategory = parameter.kind === 'category';
  const inset = isCategory ? 16 : 0;
  const xOf = ([from, to]) => left + inset + across.at(parameter.log ? Math.sqrt(from * to) : (from + to) / 2) * (right - left - 2 * inset);
  const yOf = value => bottom - up.at(value) * (bottom - top);
  frame(svg, box, isCategory ? {at: value => (xOf([value, value]) - left) / (right - left), ticks: across.ticks} : across, up, parameter.name);
  const bins = marginal.bins, points = key => bins.map(bin => `${xOf(bin).toFixed(1)},${yOf(bin[key]).toFixed(1)}`);
  if (isCategory)
    svg.append(...bins.map(bin => node('rect', {class: 'band', x: xOf(bin) - 5, width: 10, y: yOf(bin[5]), height: Math.max(yOf(bin[4]) - yOf(bin[5]), 1)})));
  else
    svg.append(node('path', {class: 'band', d: `M${points(4).join('L')}L${points(5).reverse().join('L')}Z`}),
               node('path', {class: 'mean', d: `M${points(3).join('L')}`}));
  if (isCategory || bins.length <= 24)
    svg.append(...bins.map(bin => node('circle', {class: 'dot', cx: xOf(bin), cy: yOf(bin[3]), r: 2.6})));
  svg.addEventListener('pointermove', event => {
    const x = placeIn(svg, event)[0];
    const bin = bins.reduce((best, one) => Math.abs(xOf(one) - x) < Math.abs(xOf(best) - x) ? one : best);
    const value = isCategory ? parameter.names[bin[0]] : bin[0] === bin[1] ? numberText(bin[0]) : `${numberText(bin[0])} to ${numberText(bin[1])}`;
    showTip(event, `${parameter.name}: ${value}\nmean ${result.name}: ${numberText(bin[3])}\nleast ${numberText(bin[4])}, greatest ${numberText(bin[5])}\n${bin[2]} ${each}s`);
  });
  svg.addEventListener('pointerleave', hideTip);
}

// ---- durations and timeline

function drawDurations() {
  const host = at('durations'), bins = data.durations, width = Math.min(host.clientWidth, 860), height = 190;
  if (!bins.length) return void (host.textContent = `No ${each} has been run.`);
  const box = [74, 24, width - 20, height - 28], [left, top, right, bottom] = box;
  const across = numberAxis(bins[0][0], bins.at(-1)[1], true, secondsText, 8);
  const up = numberAxis(0, Math.max(...bins.map(bin => bin[2])), false, numberText, 4);
  const svg = drawing(host, width, height, `How many ${each}s have taken how long`);
  frame(svg, box, across, up, '', `${each}s`);
  for (const [from, to, count] of bins) {
    const x = left + across.at(from) * (right - left), end = left + across.at(to) * (right - left), y = bottom - up.at(count) * (bottom - top);
    const bar = node('rect', {class: 'bar', x: x + 0.5, width: Math.max(end - x - 1, 0.5), y, height: bottom - y});
    bar.addEventListener('pointermove', event => showTip(event, `${count} ${each}s\n${secondsText(from)} to ${secondsText(to)}`));
    bar.addEventListener('pointerleave', hideTip);
    svg.append(bar);
  }
}

function drawTimeline() {
  const host = at('timeline'), line = data.timeline, width = host.clientWidth;
  if (line.bars) drawBars(host, line, width); else drawLoad(host, line, width);
}

function drawBars(host, line, width) {
  const lane = Math.min(Math.max(260 / line.lanes, 5), 18), height = line.lanes * lane + 46;
  const box = [74, 12, width - 20, height - 30], [left, top, right] = box;
  const across = numberAxis(0, line.end || 1, false, secondsText, 8);
  const svg = drawing(host, width, height, `When each ${each} ran: a bar each, one lane for each that ran at once`);
  frame(svg, box, across, {at: value => 1 - (value - 0.5) / line.lanes, ticks: line.lanes > 1 ? [[1, '1'], [line.lanes, String(line.lanes)]] : [[1, '1']]});
  for (const [number, start, duration, first, count, isOk] of line.bars) {
    const bar = node('rect', {class: isOk ? 'bar' : 'bar bad', x: left + across.at(start) * (right - left), y: top + number * lane + 0.5,
      width: Math.max(across.at(duration) * (right - left) - 0.4, 0.6), height: lane - 1, opacity: 0.85});
    const what = count > 1 ? `${count} ${each}s computed together, from ${each} ${first} on` : `${each} ${first}`;
    bar.addEventListener('pointermove', event => showTip(event, `${what}${isOk ? '' : ', failed'}\nafter ${secondsText(start)}, for ${secondsText(duration)}`));
    bar.addEventListener('pointerleave', hideTip);
    svg.append(bar);
  }
}

function drawLoad(host, line, width) {
  const height = 200, box = [74, 24, width - 20, height - 28], [left, top, right, bottom] = box;
  const across = numberAxis(0, line.end || 1, false, secondsText, 8);
  const up = numberAxis(0, Math.max(1, ...line.load.map(bin => bin[0] + bin[1])), false, numberText, 4);
  const svg = drawing(host, width, height, `How many ${each}s were running`);
  frame(svg, box, across, up, '', 'running at once');
  const step = (right - left) / line.load.length;
  line.load.forEach(([ok, failed, ended], i) => {
    const [yOk, yAll] = [ok, ok + failed].map(value => bottom - up.at(value) * (bottom - top));
    const x = left + i * step, group = node('g', {},
        node('rect', {class: 'bar', x, width: step + 0.3, y: yOk, height: bottom - yOk, opacity: 0.85}),
        node('rect', {class: 'bar bad', x, width: step + 0.3, y: yAll, height: yOk - yAll}));
    group.addEventListener('pointermove', event => showTip(event,
        `after ${secondsText(line.end * i / line.load.length)}\n${numberText(ok + failed)} running, ${ended} ended`));
    group.addEventListener('pointerleave', hideTip);
    svg.append(group);
  });
}

// ---- devices

const units = ['', 'k', 'M', 'G', 'T'];
function bytesText(bytes) {
  const unit = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${numberText(Number((bytes / 1000 ** unit).toPrecision(3)))} ${units[unit]}B`;
}

function drawDevices() {
  const host = at('devices');
  host.replaceChildren(...data.devices.flatMap(() => [document.createElement('div'), document.createElement('div')]));
  data.devices.forEach((device, i) => {
    drawLinks(host.children[2 * i], device);
    drawMemory(host.children[2 * i + 1], device);
  });
}

/** A frame over the time of the devices. @return the drawing, where a time and a height are */
function overTime(host, device, most, name, about) {
  const width = Math.min(host.clientWidth, 860), height = 170, box = [74, 24, width - 150, height - 28], [left, top, right, bottom] = box;
  const across = numberAxis(device.begin, device.end, false, secondsText, 8), up = numberAxis(0, most || 1, false, bytesText, 4);
  const svg = drawing(host, width, height, about);
  frame(svg, box, across, up, '', name);
  return [svg, time => left + across.at(time) * (right - left), value => bottom - up.at(value) * (bottom - top), right];
}

function drawLinks(host, device) {
  const [svg, xOf, yOf, right] = overTime(host, device, Math.max(0, ...device.links.flatMap(link => link.bytes)),
                                          `${device.name}: bytes per second`, `Bytes per second on the links of ${device.name}`);
  device.links.forEach((link, i) => {
    const timeOf = part => device.begin + (device.end - device.begin) * part / link.bytes.length;
    const line = link.bytes.map((value, part) => `${xOf(timeOf(part)).toFixed(1)},${yOf(value).toFixed(1)}H${xOf(timeOf(part + 1)).toFixed(1)}`);
    svg.append(node('path', {d: `M${line.join('L')}`, fill: 'none', stroke: palette[i]}, node('title', {}, link.name)),
               node('text', {x: right + 10, y: 36 + 18 * i, fill: palette[i]}, link.name));
  });
}

function drawMemory(host, device) {
  const [svg, xOf, yOf, right] = overTime(host, device, Math.max(device.memory, ...device.held.map(([, bytes]) => bytes)),
                                          `${device.name}: memory`, `What is taken of the memory of ${device.name}`);
  const line = device.held.map(([time, bytes]) => `${xOf(time).toFixed(1)},${yOf(bytes).toFixed(1)}`);
  if (line.length) svg.append(node('path', {class: 'mean', d: `M${line.join('L')}`}));
  svg.append(node('path', {d: `M${xOf(device.begin)},${yOf(device.memory)}H${right}`, stroke: palette[5], fill: 'none'}, node('title', {}, bytesText(device.memory))),
             node('text', {x: right + 10, y: yOf(device.memory) + 4, fill: palette[5]}, bytesText(device.memory)));
}

// ---- all of them

function drawAll() {
  redrawers.length = 0;
  if (drawn.length) {
    drawParallel();
    drawScatter();
    drawMarginals();
  }
  if (at('durations')) drawDurations();
  if (at('timeline')) drawTimeline();
  if (at('devices')) drawDevices();
}

if (at('parallel')) {
  const result = firstOf('result', firstOf('duration', drawn[0]));
  const redraw = () => { for (const one of [drawParallel, drawScatter]) one(); };
  const restart = () => { redrawers.length = 0; redraw(); };
  fill(at('colour'), drawn, result, restart);
  fill(at('across'), drawn, firstOf('parameter', drawn[0]), restart);
  fill(at('up'), drawn, result, restart);
  fill(at('result'), drawn.filter(i => columns[i].role === 'result' && isNumber(i)), result, drawMarginals);
}
drawAll();
let width = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth !== width) drawAll();
  width = window.innerWidth;
});
