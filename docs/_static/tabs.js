// The reader's framework, before and after sphinx-design's tabs work.
//
// sphinx-design synchronises the tabs, remembers the choice and reads it from
// the address, once the page has been loaded. Three things are left:
// showing the chosen framework from the first moment, taking the choice from
// the address on pages without tabs, and keeping one's place on a switch.
(() => {
  "use strict";

  const GROUP = "framework";
  const NAMES = ["torch", "jax"];
  const KEY = "sphinx-design-tab-id-" + GROUP;
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage is off: the choice lasts for this page
    }
  };

  const asked = new URLSearchParams(location.search).get(GROUP);
  if (NAMES.includes(asked)) {
    try {
      localStorage.setItem(KEY, asked);
    } catch {
      // as above
    }
  }
  const chosen = NAMES.includes(asked) ? asked : stored();
  if (NAMES.includes(chosen)) root.dataset.framework = chosen; // tabs.css shows it

  const labels = (name) =>
    document.querySelectorAll(`label[data-sync-group="${GROUP}"][data-sync-id="${name}"]`);

  addEventListener("DOMContentLoaded", () => {
    // sphinx-design reads the choice from the storage; without one, from here.
    if (root.dataset.framework) {
      labels(root.dataset.framework).forEach((label) => { label.control.checked = true; });
    }
    delete root.dataset.framework; // from now on the radio buttons decide
  });

  // Tabs above the one that is used change their height too.
  let place = null;
  const labelOf = (input) => document.querySelector(`label[for="${input.id}"][data-sync-group="${GROUP}"]`);
  addEventListener("change", (event) => {
    const label = event.target.id && labelOf(event.target);
    place = label ? { label, top: label.getBoundingClientRect().top } : null;
  }, true);
  addEventListener("change", () => {
    if (place) scrollBy({ top: place.label.getBoundingClientRect().top - place.top, behavior: "instant" });
    place = null;
  });
})();
