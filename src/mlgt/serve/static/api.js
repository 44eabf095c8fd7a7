// Requests to the server that sent this page.

export class ServerError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const token = () => sessionStorage.getItem("mlgt-token");
export const useToken = (value) => sessionStorage.setItem("mlgt-token", value);

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "The server does not answer. Is it still running?");
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(answer.status, found.error || `The server answered ${answer.status}.`);
  return found;
}

const model = (name) => `/v1/models/${encodeURIComponent(name)}`;

export const listModels = async () => (await ask("/v1/models")).models;

export async function tag(name, request, signal) {
  const headers = { "Content-Type": "application/json" };
  const found = await ask(`${model(name)}/tag`, { method: "POST", body: JSON.stringify(request), headers, signal });
  return found.results[0];
}

export async function searchLabels(name, query, signal) {
  const found = await ask(`${model(name)}/labels?limit=12&q=${encodeURIComponent(query)}`, { signal });
  return found.labels;
}
