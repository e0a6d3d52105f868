// The reference of the calls: RapiDoc, with the user's token in what it tries.
"use strict";

const KEY = "semdex-token";
const SCHEME = "token";
const reference = document.querySelector("rapi-doc");
const field = document.getElementById("token");
const dark = matchMedia("(prefers-color-scheme: dark)");

function dress() {
  reference.setAttribute("theme", dark.matches ? "dark" : "light");
  reference.setAttribute("bg-color", dark.matches ? "#16181b" : "#fbfbfa");
  reference.setAttribute("text-color", dark.matches ? "#e4e6e9" : "#1c1e21");
  reference.setAttribute("primary-color", dark.matches ? "#74b2ff" : "#0b5fbd");
  reference.setAttribute("nav-bg-color", dark.matches ? "#1e2125" : "#ffffff");
}

function useToken() {
  const token = sessionStorage.getItem(KEY);
  field.placeholder = token ? "a token is in use" : "semdex token prints it";
  if (token) reference.setApiKey(SCHEME, token);
}

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}
// Wherever the document says that a server is, this one is meant.
reference.setAttribute("server-url", location.origin);
reference.setAttribute("default-api-server", location.origin);
dress();
dark.addEventListener("change", dress);
reference.addEventListener("spec-loaded", useToken);
document.getElementById("use").addEventListener("submit", (event) => {
  event.preventDefault();
  if (field.value.trim()) sessionStorage.setItem(KEY, field.value.trim());
  field.value = "";
  useToken();
});
