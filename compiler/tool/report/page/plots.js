'use strict';
// What every drawing is made of: elements, axes, colours, the tip beside the pointer.

const data = JSON.parse(document.getElementById('data').textContent);
const each = data.each;  // what a row is: a point or a task
const columns = data.columns;

window.addEventListener('error', event => {
  const fault = document.getElementById('fault');
  fault.hidden = false;
  fault.textContent = 'Not all could be drawn: ' + event.message;
});

function node(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** An empty drawing in place of what `host` has. */
function drawing(host, width, height, about) {
  const svg = node('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': about});
  host.replaceChildren(svg);
  return svg;
}

function numberText(value) {
  if (value === null || value === undefined) return '-';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(value.toPrecision(6)));
}

function secondsText(seconds) {
  if (seconds === 0) return '0 s';
  for (const [unit, size] of [['h', 3600], ['min', 60], ['s', 1], ['ms', 1e-3], ['\u00b5s', 1e-6]])
    if (seconds >= size * 0.9995) return numberText(Number((seconds / size).toPrecision(3))) + ' ' + unit;
  return numberText(Number((seconds * 1e9).toPrecision(3))) + ' ns';
}

function cellText(column, cell) {
  if (cell === null) return '-';
  if (column.kind === 'category') return column.names[cell];
  return column.kind === 'text' ? cell : column.role === 'duration' ? secondsText(cell) : numberText(cell);
}

const shortened = (text, most) => text.length > most ? text.slice(0, most - 1) + '\u2026' : text;

// ---- axes: at(value) is 0..1, or null where there is nothing; ticks are [value, text]

function linearTicks(from, to, wanted) {
  const rough = (to - from) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

function logTicks(from, to, wanted) {
  const first = Math.ceil(Math.log10(from) - 1e-9), last = Math.floor(Math.log10(to) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const factors = last - first < 2 ? [1, 2, 5] : [1], ticks = [];
  for (let power = first - 1; power <= last; power += step)
    ticks.push(...factors.map(factor => factor * 10 ** power).filter(tick => tick >= from * 0.999 && tick <= to * 1.001));
  return ticks.length ? ticks : [from, to];
}

function numberAxis(from, to, isLog = false, text = numberText, wanted = 5) {
  if (from === to) [from, to] = isLog ? [from / 2, to * 2] : [from - (Math.abs(from) || 1) / 2, to + (Math.abs(to) || 1) / 2];
  const place = isLog ? Math.log : value => value;
  const low = place(from), high = place(to);
  return {
    at: value => value === null ? null : (place(value) - low) / (high - low),
    ticks: (isLog ? logTicks : linearTicks)(from, to, wanted).map(value => [value, text(value)]),
  };
}

function columnAxis(column, wanted = 5) {
  if (column.kind === 'category') {
    const last = column.names.length - 1;
    return {
      at: cell => cell === null ? null : last === 0 ? 0.5 : cell / last,
      ticks: column.names.map((name, i) => [i, shortened(name, 14)]),
    };
  }
  return numberAxis(column.least, column.greatest, column.log, column.role === 'duration' ? secondsText : numberText, wanted);
}

/** Ticks that would stand on each other are left out. */
function spread(axis, length, room) {
  const step = Math.max(1, Math.ceil(axis.ticks.length * room / length));
  return axis.ticks.filter((tick, i) => i % step === 0);
}

/** Below and to the left of the rectangle (left, top, right, bottom). */
function frame(svg, box, across, up, acrossName, upName) {
  const [left, top, right, bottom] = box;
  svg.append(node('path', {class: 'axis', d: `M${left},${top}V${bottom}H${right}`}));
  for (const [value, text] of spread(across, right - left, 58)) {
    const x = left + across.at(value) * (right - left);
    svg.append(node('path', {class: 'axis', d: `M${x},${bottom}v4`}),
               node('text', {x, y: bottom + 16, 'text-anchor': 'middle'}, text));
  }
  for (const [value, text] of spread(up, bottom - top, 16)) {
    const y = bottom - up.at(value) * (bottom - top);
    svg.append(node('path', {class: 'axis', d: `M${left},${y}h-4`}),
               node('text', {x: left - 7, y: y + 4, 'text-anchor': 'end'}, text));
  }
  if (acrossName) svg.append(node('text', {class: 'name', x: right, y: bottom + 32, 'text-anchor': 'end'}, acrossName));
  if (upName) svg.append(node('text', {class: 'name', x: left, y: top - 10, 'text-anchor': 'start'}, upName));
}

// ---- colours: as visible on white as on black

const ramp = [[0x3a, 0x5f, 0xcd], [0x2a, 0x9d, 0x8f], [0xe0, 0xa0, 0x30], [0xd1, 0x49, 0x5b]];
const palette = ['#3a7fbf', '#e0902f', '#2a9d8f', '#c76b98', '#8a6fc9', '#d1493f', '#8a8f98', '#a39a3a'];
const steps = 24;
const nothing = '#8a8f98';

function rampColour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(place), ramp.length - 2);
  return 'rgb(' + ramp[i].map((from, k) => Math.round(from + (ramp[i + 1][k] - from) * (place - i))).join(',') + ')';
}

/** of(cell) is a colour; there are few of them, so that all that has one is drawn at once. */
function columnColours(column) {
  if (column.kind === 'category') return cell => cell === null ? nothing : palette[cell % palette.length];
  const axis = columnAxis(column);
  return cell => cell === null ? nothing : rampColour(Math.round(axis.at(cell) * steps) / steps);
}

// ---- the tip

const tip = document.getElementById('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 16 + tip.offsetHeight < window.innerHeight;
  tip.style.left = Math.max(left, 4) + 'px';
  tip.style.top = (below ? event.clientY + 16 : event.clientY - tip.offsetHeight - 10) + 'px';
}
const hideTip = () => { tip.hidden = true; };
const rowText = row => columns.filter(column => column.role !== 'reason' || column.cells[row] !== null).map(column => `${column.name}: ${shortened(cellText(column, column.cells[row]), 120)}`).join('\n');

/** Where the pointer is in the drawing. */
function placeIn(svg, event) {
  const box = svg.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
