import { Html, html } from './html.ts'

/** Turns the little Markdown that our texts use into HTML: paragraphs, lists, code and links. */
export function prose(text: string): Html {
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return html`${blocks.map((block) => (block.startsWith('- ') ? list(block) : html`<p>${inline(block)}</p>`))}`
}

function list(block: string): Html {
  const items = block.replace(/^- /, '').split(/\n- /)
  return html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`
}

/** Splitting by a pattern with a group leaves what matched at the odd places. */
function inline(text: string): Html {
  const parts = text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\))/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? html`${part}` : span(part)))}`
}

function span(part: string): Html {
  if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`
  const [, label, address] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? []
  return /^(https:\/\/|\/(?!\/)|#)/.test(address ?? '')
    ? html`<a href="${address}">${label}</a>`
    : new Html('')
}
