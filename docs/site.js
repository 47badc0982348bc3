// Names and focus for screen readers and keyboards that the theme leaves out; the theme calls this for each page.
document$.subscribe(() => {
  const named = (part, number) => {
    const label = document.getElementById(part.getAttribute("aria-labelledby") ?? "")?.textContent.trim()
    part.removeAttribute("aria-labelledby")
    part.ariaLabel = `${label || part.ariaLabel || "Code"}, part ${number + 1}`
  }
  const mend = () => {
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
    document.querySelectorAll("nav.md-nav[aria-labelledby], nav.md-code__nav:not([aria-label])").forEach(named)
    for (const block of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) block.tabIndex = 0
  }
  mend()
  // The theme wraps tables and adds buttons a moment later.
  new MutationObserver(mend).observe(document.querySelector(".md-content"), { childList: true, subtree: true })
})
