"use strict";
// Conveniences only: the page is complete without them.
(function () {
  var root = document.documentElement;
  var button = document.getElementById("theme");
  function stored(value) {
    try {
      if (value === undefined) { return localStorage.getItem("quietcore-theme"); }
      localStorage.setItem("quietcore-theme", value);
    } catch (ignored) { /* A page of a file may have no storage. */ }
    return null;
  }
  var theme = stored();
  if (theme === "light" || theme === "dark") { root.dataset.theme = theme; }
  button.hidden = false;
  button.addEventListener("click", function () {
    var dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    stored(root.dataset.theme);
  });
  // What is wider than its place says that it scrolls.
  function measure() {
    document.querySelectorAll(".scroll").forEach(function (region) {
      region.classList.toggle("fits", region.scrollWidth <= region.clientWidth + 1);
      region.classList.toggle("more", region.scrollWidth > region.clientWidth + 1);
    });
  }
  measure();
  addEventListener("resize", measure);
  document.addEventListener("toggle", measure, true);
  // A link into something closed opens it.
  addEventListener("hashchange", function () {
    var target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) { target.open = true; }
  });
  // Paper has nothing to click on.
  var opened = [];
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not([open]):not(.facts-raw)").forEach(function (details) {
      details.open = true;
      opened.push(details);
    });
  });
  addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
    opened = [];
  });
})();
