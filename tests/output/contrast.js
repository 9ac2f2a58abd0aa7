// The texts of a page with less contrast than WCAG 2 asks of small text.
const channel = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (color) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = (top, below) => top.slice(0, 3).map((v, n) => v * top[3] + below[n] * (1 - top[3]));
const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
const ground = (e) => {
  const layers = [];
  for (let at = e; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
};
const opacity = (e) => {
  let all = 1;
  for (let at = e; at; at = at.parentElement) all *= Number(getComputedStyle(at).opacity);
  return all;
};
const faint = new Set();
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.matches(":disabled, :disabled *, script, template, option, .again")) continue;
  const below = ground(e), color = rgba(getComputedStyle(e).color);
  const text = over([...color.slice(0, 3), color[3] * opacity(e)], below);
  const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) faint.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
}
return [...faint];
