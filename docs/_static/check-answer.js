// Tell readers whether their number is right, without opening the solution.
(() => {
  "use strict";

  const NAMES = { torch: "PyTorch", jax: "JAX" };

  // 0.25, 0,25, 1/4, 2.5e-1 and a typographic minus are all numbers to a reader.
  const read = (text) => {
    const parts = text.trim().replaceAll("−", "-").replace(",", ".").split("/");
    const numbers = parts.map((part) => (part.trim() ? Number(part) : NaN));
    return parts.length > 2 ? NaN : numbers.reduce((a, b) => a / b);
  };

  const framework = () => {
    try {
      return localStorage.getItem("sphinx-design-tab-id-framework") ?? "torch";
    } catch {
      return "torch"; // storage is off
    }
  };

  addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form.check-answer")) return;
    event.preventDefault();
    const field = form.querySelector("input");
    const reply = form.querySelector("output");
    const answers = JSON.parse(atob(form.dataset.answer));
    const within = Number(form.dataset.within);
    const chosen = framework() in answers ? framework() : "torch";
    const given = read(field.value);
    // Rounded input may sit on the edge: 0.1 + 0.2 must not fail for its last bit.
    const right = (answer) => Math.abs(given - answer) <= within * (1 + 1e-9);
    const differ = Math.abs(answers.torch - answers.jax) > within;
    const draw = differ ? ` for the draw of ${NAMES[chosen]}` : "";
    const verdict = right(answers[chosen]);
    form.dataset.verdict = Number.isFinite(given) ? (verdict ? "right" : "wrong") : "";
    reply.textContent = "";
    if (!Number.isFinite(given)) reply.textContent = "Write a number, such as 0.25, 1/4 or 2.5e-3.";
    else if (verdict) reply.textContent = `Right${draw}.`;
    else reply.textContent = `${field.value.trim()} is not the answer${draw}. Try again.`;
  });
})();
