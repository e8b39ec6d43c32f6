"""The colours of the site and of the page of ./learn explain, by the names of their CSS variables."""

LIGHT = {
    "color-brand-primary": "#0e6b4e",
    "color-brand-content": "#0e6b4e",
    "color-brand-visited": "#0e6b4e",
    "color-background-secondary": "#f7f7f5",
    "color-inline-code-background": "#f1f2ef",
    "warp-soft": "#e6eae5",
    "warp-second": "#b4430f",
    "warp-other": "#8a6600",
    "warp-loaded": "#1f62b0",
    "warp-shared": "#7d3fa6",
    "warp-panel": "#fcfcfb",
    "warp-shadow": "rgba(0, 0, 0, 0.28)",
    "warp-line-number": "#626a62",
    "color-foreground-muted": "#5c6167",
    "color-api-name": "#0e6b4e",
    "color-api-pre-name": "#4d544f",
    "color-link-underline": "#8fb5a5",
}
DARK = {
    "color-brand-primary": "#5cc79f",
    "color-brand-content": "#74d3b0",
    "color-brand-visited": "#74d3b0",
    "color-background-primary": "#131615",
    "color-background-secondary": "#181b1a",
    "color-inline-code-background": "#222725",
    "warp-soft": "#2b322f",
    "warp-second": "#f29a63",
    "warp-other": "#dcb53f",
    "warp-loaded": "#7db3f0",
    "warp-shared": "#cb9bee",
    "warp-panel": "#171a19",
    "warp-shadow": "rgba(255, 255, 255, 0.3)",
    "warp-line-number": "#939b95",
    "color-foreground-muted": "#9aa19c",
    "color-api-name": "#74d3b0",
    "color-api-pre-name": "#b4bbb6",
    "color-link-underline": "#3f6b5b",
}
# What a page has that the site's theme does not style.
PLAIN_LIGHT = {
    "color-background-primary": "#ffffff",
    "color-background-border": "#d5dad6",
    "color-foreground-primary": "#16191a",
    "color-link": "#0e6b4e",
}
PLAIN_DARK = {
    "color-background-border": "#353c39",
    "color-foreground-primary": "#dfe3de",
    "color-link": "#74d3b0",
}


def rule(selector: str, *colours: dict[str, str]) -> str:
    """As CSS."""
    said = " ".join(f"--{name}: {value};" for of in colours for name, value in of.items())
    return f"{selector} {{ {said} }}"
