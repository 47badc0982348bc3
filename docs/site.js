// Names and focus for screen readers and keyboards that the theme leaves out, commands to paste, and tables that say that
// they scroll; the theme calls this for each page.
document$.subscribe(() => {
  const named = (part, number) => {
    const label = document.getElementById(part.getAttribute("aria-labelledby") ?? "")?.textContent.trim()
    part.removeAttribute("aria-labelledby")
    part.ariaLabel = `${label || part.ariaLabel || "Code"}, part ${number + 1}`
  }
  // What is copied from a shell's block are its commands, without the prompts.
  const copied = (button) => {
    const text = document.querySelector(button.dataset.clipboardTarget)?.textContent ?? ""
    if (/^\$ /m.test(text)) button.dataset.clipboardText = text.replace(/^\$ /gm, "").trimEnd()
  }
  const marked = (wrap) => {
    const left = wrap.scrollWidth - wrap.clientWidth
    wrap.classList.toggle("scrolls", left > 1)
    wrap.classList.toggle("more", left - wrap.scrollLeft > 1)
  }
  // Paths break at their slashes alone.
  const requests = (table) => {
    if (table?.querySelector("th")?.textContent !== "request") return
    table.dataset.rows = "requests"
    for (const code of table.querySelectorAll("td:first-child code")) {
      const parts = code.textContent.split("/").flatMap((part, number) => (number ? ["/", document.createElement("wbr"), part] : [part]))
      code.replaceChildren(...parts)
    }
  }
  const sizes = new ResizeObserver((all) => all.forEach((one) => marked(one.target)))
  const mend = () => {
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
    document.querySelectorAll("nav.md-nav[aria-labelledby], nav.md-code__nav:not([aria-label])").forEach(named)
    document.querySelectorAll("[data-clipboard-target]:not([data-clipboard-text])").forEach(copied)
    for (const block of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) block.tabIndex = 0
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      requests(wrap.querySelector("table:not([data-rows])"))
      sizes.observe(wrap)
      wrap.onscroll = () => marked(wrap)
    }
  }
  mend()
  // The theme wraps tables and adds buttons a moment later.
  new MutationObserver(mend).observe(document.querySelector(".md-content"), { childList: true, subtree: true })
})
