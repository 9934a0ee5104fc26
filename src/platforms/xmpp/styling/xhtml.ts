/** Reads formatting that is written as XHTML (XEP-0071): a few elements, and of the rest their words alone. */
import type { Element } from '@xmpp/client'
import type { Text, TextEntity } from '../../../../machines/model/text.ts'
import { ns } from '../namespaces.ts'

/** A larger body is read as the plain text that comes along. */
const MOST_DEPTH = 24
const MOST_ELEMENTS = 2_000
const LONGEST_TEXT = 65_536

const types: ReadonlyMap<string, string> = new Map([
  ['strong', 'bold'],
  ['b', 'bold'],
  ['em', 'italic'],
  ['i', 'italic'],
  ['u', 'underline'],
  ['ins', 'underline'],
  ['s', 'strikethrough'],
  ['del', 'strikethrough'],
  ['strike', 'strikethrough'],
  ['code', 'code'],
  ['tt', 'code'],
  ['pre', 'pre'],
  ['blockquote', 'blockquote'],
])

const styles: readonly (readonly [type: string, property: string, value: RegExp])[] = [
  ['bold', 'font-weight', /^(bold|[6-9]00)/],
  ['italic', 'font-style', /^(italic|oblique)/],
  ['underline', 'text-decoration', /underline/],
  ['strikethrough', 'text-decoration', /line-through/],
]

const blocks: ReadonlySet<string> = new Set([
  ...['p', 'div', 'blockquote', 'pre', 'ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
])

/** Not for reading. */
const silent: ReadonlySet<string> = new Set(['script', 'style', 'head', 'title', 'object'])

/** Schemes of harmless links: a tap on one opens an address and runs nothing. */
const linkable = /^(https?|xmpp|mailto|tel|geo):/i

/** `undefined` where there is none, none with words in it, or one that is made to be slow. */
export function readXhtml(message: Element): Text | undefined {
  const body = message.getChild('html', ns.xhtml)?.getChild('body', ns.xhtmlBody)
  const reader = new Reader()
  if (!body || !reader.read(body)) return undefined
  return reader.result.text ? reader.result : undefined
}

class Reader {
  #text = ''
  #elements = 0
  /** A line begins before the next content. */
  #breaks = false
  readonly #entities: TextEntity[] = []

  /** The outer before the inner. */
  get result(): Text {
    const entities = this.#entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length)
    return { text: this.#text.trimEnd(), entities }
  }

  /** Says whether it was within the bounds. */
  read(element: Element, depth = 0, isKept = false): boolean {
    this.#elements += 1
    if (depth > MOST_DEPTH || this.#elements > MOST_ELEMENTS) return false
    const { name } = element
    if (silent.has(name)) return true
    const isBlock = blocks.has(name)
    this.#breaks ||= isBlock && this.#text !== ''
    if (name === 'br') this.#text = `${this.#line}\n`
    if (name === 'img') this.#write(element.attrs.alt ?? '', isKept)
    if (name === 'li') this.#write('• ', isKept)
    const start = this.#breaks ? this.#line.length + 1 : this.#text.length
    const isPre = isKept || name === 'pre'
    for (const child of element.children) {
      if (typeof child === 'string') this.#write(child, isPre)
      else if (!this.read(child, depth + 1, isPre)) return false
    }
    this.#note(element, start)
    this.#breaks ||= isBlock && this.#text !== ''
    return this.#text.length <= LONGEST_TEXT
  }

  /** The text so far, ready for a line to end. */
  get #line(): string {
    return this.#text.endsWith(' ') ? this.#text.slice(0, -1) : this.#text
  }

  #write(words: string, isKept: boolean) {
    const spaced = isKept ? words : words.replace(/[ \t\r\n\f]+/g, ' ')
    const isAfterSpace = this.#breaks || /^$|[ \n]$/.test(this.#text.slice(-1))
    const shown = isAfterSpace && !isKept ? spaced.replace(/^ /, '') : spaced
    if (!shown) return
    if (this.#breaks) this.#text = `${this.#line}\n`
    this.#breaks = false
    this.#text += shown
  }

  /** Spaces at its ends are no part of what is formatted. */
  #note(element: Element, start: number) {
    const words = this.#text.slice(start)
    const length = words.trim().length
    if (length === 0) return
    const offset = start + words.length - words.trimStart().length
    for (const facts of formatsOf(element, words.trim())) {
      this.#entities.push({ offset, length, ...facts })
    }
  }
}

function formatsOf({ name, attrs }: Element, words: string): Pick<TextEntity, 'type' | 'url'>[] {
  const { href, style = '' } = attrs
  const own = types.get(name)
  const declared = declarations(style)
  const styled = styles.flatMap(([type, property, value]) =>
    value.test(declared.get(property) ?? '') ? [type] : [],
  )
  const formats = new Set(own === undefined ? styled : [own, ...styled])
  // A link that is its own words needs no other.
  const isLink = name === 'a' && href !== undefined && href !== words && isLinkable(href)
  return [
    ...(isLink ? [{ type: 'text_link', url: href }] : []),
    ...[...formats].map((type) => ({ type })),
  ]
}

/** Cut at its signs: a pattern over the whole could be made to try each place in it with each other. */
function declarations(style: string): ReadonlyMap<string, string> {
  return new Map(
    style.split(';').map((declaration) => {
      const colon = declaration.indexOf(':')
      const property = declaration.slice(0, Math.max(colon, 0))
      const value = declaration.slice(colon + 1)
      return [property.trim().toLowerCase(), value.trim().toLowerCase()]
    }),
  )
}

const isLinkable = (href: string) => linkable.test(href) && URL.canParse(href)
