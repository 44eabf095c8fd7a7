// Files of texts: one text per line, JSON lines, CSV or TSV -> [{text, labels}]; and rows -> JSON lines.

const MAX_TEXTS = 5000;

export function readTexts(fileName, content, facts) {
  const ending = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  const read = { jsonl: fromJsonLines, ndjson: fromJsonLines, json: fromJsonLines, csv: fromTable, tsv: fromTable }[ending];
  const rows = (read || fromLines)(content.replace(/^\ufeff/, ""), facts, ending === "tsv" ? "\t" : ",");
  const texts = rows.filter((row) => row.text.trim());
  if (!texts.length) throw new Error(`${fileName} has no text.`);
  return texts.slice(0, MAX_TEXTS);
}

export function toJsonLines(rows, facts) {
  return rows.map((row) => JSON.stringify(record(row, facts)) + "\n").join("");
}

// The columns of the training file, so that `mlgt update` finds them where it looks.
function record(row, facts) {
  const [first, ...others] = facts.text_columns;
  return { [first]: row.text, ...Object.fromEntries(others.map((name) => [name, ""])), [facts.label_column]: row.labels };
}

function fromLines(content) {
  return content.split(/\r?\n/).map((text) => ({ text, labels: [] }));
}

function fromJsonLines(content, facts) {
  return content.split(/\r?\n/).filter((line) => line.trim()).map((line, i) => {
    let found;
    try {
      found = JSON.parse(line);
    } catch {
      throw new Error(`Line ${i + 1} is not JSON; expected one object per line.`);
    }
    return fromFields(found !== null && typeof found === "object" ? found : { text: String(found) }, facts);
  });
}

function fromTable(content, facts, separator) {
  const [header, ...rows] = parseTable(content, separator);
  const known = [...facts.text_columns, "text"].some((name) => header.includes(name));
  if (!known) throw new Error(`The table has the columns ${header.join(", ")}; expected ${facts.text_columns.join(", ")}.`);
  return rows.map((row) => fromFields(Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])), facts));
}

function fromFields(fields, facts) {
  const own = facts.text_columns.filter((name) => name in fields);
  const text = (own.length ? own : ["text"]).map((name) => fields[name] ?? "").filter(Boolean).join("\n");
  const labels = fields[facts.label_column] ?? fields.labels ?? [];
  const list = Array.isArray(labels) ? labels : String(labels).split(facts.label_separator);
  return { text: String(text), labels: [...new Set(list.map((label) => String(label).trim()).filter(Boolean))] };
}

// CSV with quoted fields, which may hold separators, line ends and doubled quotes.
export function parseTable(content, separator) {
  const rows = [];
  let row = [], field = "", quoted = false;
  const endField = () => { row.push(field); field = ""; };
  const endRow = () => { endField(); if (row.length > 1 || row[0]) rows.push(row); row = []; };
  for (let i = 0; i < content.length; i++) {
    const c = content[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (content[i + 1] === '"') { field += c; i++; }
      else quoted = false;
    } else if (c === '"' && !field) quoted = true;
    else if (c === separator) endField();
    else if (c === "\n") endRow();
    else if (c !== "\r") field += c;
  }
  endRow();
  if (!rows.length) throw new Error("The table is empty.");
  return rows;
}
