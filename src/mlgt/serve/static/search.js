// A search field with a list of the labels that it finds: a combobox, for the keyboard and screen readers too.

export function makeSearch(input, list, { find, add, guarded }) {
  let asking = new AbortController();
  const items = () => [...list.children];

  async function search() {
    asking.abort();
    asking = new AbortController();
    const query = input.value.trim();
    if (!query) return show([]);
    await guarded(async () => {
      const labels = await find(query, asking.signal);
      const isNew = !labels.some((one) => String(one.label) === query);
      show(isNew ? [...labels, { label: query, isNew }] : labels);
    });
  }

  function show(labels) {
    list.replaceChildren(...labels.map(option));
    list.hidden = !labels.length;
    input.setAttribute("aria-expanded", String(labels.length > 0));
    select(0);
  }

  function option(one, i) {
    const item = document.createElement("li");
    item.id = `${list.id}-${i}`;
    item.setAttribute("role", "option");
    item.textContent = one.isNew ? `New label: ${one.label}` : one.label;
    item.choose = () => { input.value = ""; show([]); add(one.label); };
    item.addEventListener("mousedown", (event) => { event.preventDefault(); item.choose(); });
    if (!one.isNew) {
      const more = document.createElement("span");
      more.className = "quiet";
      more.textContent = [one.id, `${one.rows} ${one.rows === 1 ? "row" : "rows"}`].filter(Boolean).join(", ");
      item.append(more);
    }
    return item;
  }

  function select(place) {
    items().forEach((item, i) => item.setAttribute("aria-selected", String(i === place)));
    const selected = items()[place];
    if (selected) input.setAttribute("aria-activedescendant", selected.id);
    else input.removeAttribute("aria-activedescendant");
    selected?.scrollIntoView({ block: "nearest" });
  }

  function key(event) {
    const all = items();
    const place = all.findIndex((item) => item.getAttribute("aria-selected") === "true");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && all.length) select((place + step + all.length) % all.length);
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && all.length) all[place].choose();
    else if (event.key === "Escape") show([]);
    else return;
    event.preventDefault();
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", key);
  input.addEventListener("blur", () => show([]));
}
