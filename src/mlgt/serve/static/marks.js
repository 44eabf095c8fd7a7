// Words for and against a label, marked on a layer behind the text.

export function showMarks(layer, text, marks) {
  const parts = [];
  const at = placesOf(text);
  const strongest = Math.max(1e-9, ...marks.map(([, , share]) => Math.abs(share)));
  let done = 0;
  for (const [first, last, share] of marks) {
    const [start, end] = [at(first), at(last)];
    if (start < done || end > text.length || Math.abs(share) < strongest / 50) continue;
    const mark = document.createElement("mark");
    mark.className = (share > 0 ? "for" : "against") + (Math.abs(share) > strongest / 2 ? " strong" : "");
    mark.textContent = text.slice(start, end);
    parts.push(text.slice(done, start), mark);
    done = end;
  }
  layer.replaceChildren(...parts, text.slice(done), "\n");
}

// The server counts characters, JavaScript counts units of UTF-16.
function placesOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (place) => place;
  const places = [];
  let unit = 0;
  for (const character of text) {
    places.push(unit);
    unit += character.length;
  }
  places.push(unit);
  return (place) => places[place] ?? unit;
}
