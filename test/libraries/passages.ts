/** What passed between a program and the service, so that whatever comes twice is seen, and whose doing it is. */

/** How often words passed. */
interface Passed {
  /** The program asked to send them. */
  readonly asked: number
  /** It was answered that they were sent. */
  readonly told: number
}

/** A call that sends something. */
interface Sending {
  readonly words: string
  isTold: boolean
}

interface Update {
  readonly update_id: number
}

/** Of these the network makes no second one with the same members. */
const UNIQUE = ['message', 'edited_message', 'callback_query', 'inline_query']

export class Passages {
  readonly #sendings: Sending[] = []
  /** Polled, and not confirmed by the offset of a later poll. */
  readonly #open = new Map<number, string>()
  readonly #taken = new Set<string>()
  readonly #doubled: string[] = []
  #losing: RegExp | undefined

  /** Updates that were handed over once more after they were taken, or under two ids. */
  get doubled(): readonly string[] {
    return this.#doubled
  }

  count(words: string): Passed {
    const sendings = this.#sendings.filter((sending) => wordsOf(words).test(sending.words))
    return { asked: sendings.length, told: sendings.filter(({ isTold }) => isTold).length }
  }

  /** The answer to the next call that sends these words is lost on its way. */
  loseAnswer(words: string): void {
    this.#losing = wordsOf(words)
  }

  /** A call of the program; undefined where it sends nothing. */
  asked(path: string, body: string): Sending | undefined {
    const method = methodOf(path)
    if (method === 'getupdates') this.#confirm(offsetIn(path, body))
    if (!method?.startsWith('send') || method.endsWith('draft')) return undefined
    const sending = { words: wordsIn(path, body), isTold: false }
    this.#sendings.push(sending)
    return sending
  }

  /** Whether the answer to this call is the one that gets lost. */
  loses(path: string, body: string): boolean {
    if (!this.#losing?.test(wordsIn(path, body))) return false
    this.#losing = undefined
    return true
  }

  /** Updates in an answer that the program got whole. */
  polled(updates: readonly Update[]): void {
    for (const update of updates) {
      const about = aboutOf(update)
      if (about === undefined) continue
      const others = [...this.#open].filter(([id]) => id !== update.update_id)
      const isOpen = others.some(([, other]) => other === about)
      if (isOpen || this.#taken.has(about)) this.#doubled.push(about)
      this.#open.set(update.update_id, about)
    }
  }

  /** An update that a webhook has accepted. */
  accepted(update: Update): void {
    const about = aboutOf(update)
    if (about === undefined) return
    if (this.#taken.has(about)) this.#doubled.push(about)
    this.#taken.add(about)
  }

  #confirm(offset: number) {
    for (const [id, about] of this.#open) {
      if (id >= offset) continue
      this.#open.delete(id)
      this.#taken.add(about)
    }
  }
}

/** In lower case, as the service takes it. */
const methodOf = (path: string): string | undefined =>
  /^\/bot[^/]+\/(?:test\/)?(\w+)/.exec(path)?.[1]?.toLowerCase()

function aboutOf({ update_id, ...update }: Update): string | undefined {
  return UNIQUE.some((kind) => kind in update) ? JSON.stringify(update) : undefined
}

/** In the query, or in a body of any encoding; 0 where there is none, which confirms nothing. */
function offsetIn(path: string, body: string): number {
  const [, offset = '0'] =
    /\boffset\b"?(?:\s*[:=]\s*"?|\r?\n\r?\n)(-?\d+)/.exec(`${path}\n${body}`) ?? []
  return Number(offset)
}

/** Of a call, in its query or its body. */
const wordsIn = (path: string, body: string): string => `${plain(path)} ${plain(body)}`

/** The words of a text in any encoding, without the signs of markup. */
function plain(body: string): string {
  const withoutSigns = (text: string) =>
    text.replaceAll(/\\[nrt]/g, ' ').replaceAll(/<[^>]*>|[*_\\]/g, '')
  try {
    return withoutSigns(decodeURIComponent(body.replaceAll('+', ' ')))
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return withoutSigns(body)
  }
}

/** "Kettle 1" does not stand in "Kettle 12". */
export const wordsOf = (words: string): RegExp => new RegExp(`\\b${words}\\b`)
