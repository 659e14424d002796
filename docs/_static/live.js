// Bring live figures to life: Vega draws what the page's own inputs say.
//
// The state of a figure is in its inputs, and nowhere else: a slider moved by hand, by keyboard or
// by the pointer over the figure is the same event, and a change of the theme draws anew from them.
(() => {
  "use strict";

  const { View, parse } = window.liveVega;
  const figures = (window.liveFigures = {}); // by name, for the browser's console and the tests
  const QUIET = 600; // milliseconds without a change after which a screen reader hears the numbers

  const written = (value, digits) =>
    Number.isFinite(value) ? value.toFixed(digits).replace("-", "\u2212") : "not a number";

  const chosenFramework = () => {
    try {
      return localStorage.getItem("sphinx-design-tab-id-framework"); // see tabs.js
    } catch {
      return null; // storage is off
    }
  };

  const start = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    const spec = JSON.stringify(data.spec);
    const stage = box.querySelector(".live-stage");
    const canvas = box.querySelector(".live-view > div");
    const status = box.querySelector(".live-status");
    const inputs = [...box.querySelectorAll("[data-signal]")];
    const shown = [...box.querySelectorAll("[data-shows]")];
    const numbers = [...box.querySelectorAll(".live-numbers dd")];
    let view, theme, frame, silence;
    let sides = 42; // what the labels of the vertical axis and the padding took at the last drawing

    const rows = (layer) => view.data(data.layers[layer]);
    const valueOf = (input) => (input.type === "range" ? input.valueAsNumber : input.value);

    const write = () => {
      for (const place of shown) {
        place.textContent = view.signal(place.dataset.shows);
        place.parentElement.querySelector("input").setAttribute("aria-valuetext", place.textContent);
      }
      data.numbers.forEach(({ layer, field, digits, row }, i) => {
        const value = rows(layer)[row]?.[field];
        numbers[i].textContent = typeof value === "string" ? value : written(value, digits);
      });
    };
    const speak = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        status.textContent = data.numbers
          .map(({ label }, i) => `${label}: ${numbers[i].textContent}`).join(". ");
      }, QUIET);
    };

    // The panels get the width that the labels leave, which is known once they are drawn.
    const resize = () => view.width(Math.max(120, stage.clientWidth - sides)).runAsync();
    const fit = async () => {
      await resize();
      const taken = Math.ceil(canvas.firstElementChild.getBoundingClientRect().width) - view.width();
      if (taken === sides) return;
      sides = taken;
      await resize();
    };

    // What is drawn now, a row a datum, of the layers that have a name of their own.
    const csv = () => {
      const layers = Object.keys(data.layers).filter((name) => !name.startsWith("concat_"));
      const all = layers.flatMap((series) => rows(series).map((row) => ({ series, ...row })));
      const fields = [...new Set(all.flatMap(Object.keys))];
      const cell = (value) => typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : value;
      const lines = [fields, ...all.map((row) => fields.map((field) => cell(row[field])))];
      return lines.map((line) => `${line.join(",")}\n`).join("");
    };
    box.querySelector("a[download]").addEventListener("click", (event) => {
      const link = event.currentTarget;
      URL.revokeObjectURL(link.href);
      link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    });

    const draw = async () => {
      for (const input of inputs) view.signal(input.dataset.signal, valueOf(input));
      await fit();
      write();
    };
    const soon = () => {
      frame ??= requestAnimationFrame(() => { frame = null; draw(); });
    };

    const build = async () => {
      if (theme === document.documentElement.dataset.theme) return;
      theme = document.documentElement.dataset.theme;
      const recolor = (color) => (theme === "dark" && data.dark[color.toLowerCase()]) || color;
      const runtime = parse(JSON.parse(spec.replace(/#[0-9a-f]{6}\b/gi, recolor)));
      view?.finalize();
      view = new View(runtime, { renderer: "svg", container: canvas, hover: false });
      await draw();
      box.dataset.ready = "";
    };

    // The pointer moves a slider. A finger does so while it moves sideways; see live.css.
    const [pointed, scale] = data.pointer;
    const slider = inputs.find((input) => input.dataset.signal === pointed);
    const follow = (event) => {
      const hovers = event.pointerType === "mouse" || event.type === "pointerdown";
      if (!view || !(hovers || event.pressure)) return;
      const along = scale.endsWith("x") ? ["clientX", "left"] : ["clientY", "top"];
      const panel = canvas.querySelector(`.${scale.match(/concat_\d/) ?? "concat_0"}_group .background`);
      const place = event[along[0]] - panel.getBoundingClientRect()[along[1]];
      slider.value = view.scale(scale).invert(place);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    stage.addEventListener("pointermove", follow);
    stage.addEventListener("pointerdown", follow);

    // The data are of the framework that the reader has chosen for the page, until asked otherwise.
    const draws = inputs.find((input) => input.dataset.signal === "draw");
    const followTabs = (framework) => {
      if (draws && [...draws.options].some(({ value }) => value === framework)) draws.value = framework;
    };
    followTabs(chosenFramework());
    addEventListener("change", ({ target }) => {
      const tab = target.closest?.(".framework-tabs > input")?.nextElementSibling;
      if (tab && view) {
        followTabs(tab.dataset.syncId);
        soon();
      }
    });

    box.addEventListener("input", () => { soon(); speak(); });
    new ResizeObserver(() => { if (view && stage.clientWidth) soon(); }).observe(stage);
    new MutationObserver(build).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    figures[box.dataset.figure] = {
      ready: build(),
      rows,
      signal: (name) => view.signal(name),
      // Set inputs by the names of their signals; resolves when all is drawn.
      set: (values) => {
        for (const input of inputs) {
          if (input.dataset.signal in values) input.value = values[input.dataset.signal];
        }
        return draw();
      },
    };
  };

  // A figure far below, or in a closed fold, costs nothing until it comes into sight.
  const sight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) {
        sight.unobserve(target);
        start(target);
      }
    }
  }, { rootMargin: "300px" });
  document.querySelectorAll(".live").forEach((box) => sight.observe(box));
})();
