/** Finds a sentence of the service among the messages, whose keys are such sentences with places for values. */
type Messages = Readonly<Record<string, string | undefined>>

export interface Sentence {
  readonly message: string
  readonly values: Readonly<Record<string, string>>
}

interface Pattern {
  readonly form: RegExp
  readonly names: readonly string[]
  readonly message: string
}

/** `A message was sent to {to}` in the group `said` is the message `said.A message was sent to {to}`. */
export function sentencesOf(messages: Messages) {
  const groups = new Map<string, readonly Pattern[]>()
  const patternsOf = (group: string): readonly Pattern[] => {
    const known = groups.get(group) ?? readPatterns(messages, `${group}.`)
    groups.set(group, known)
    return known
  }
  return (group: string, sentence: string): Sentence | undefined => {
    const message = messages[`${group}.${sentence}`]
    if (message !== undefined) return { message, values: {} }
    for (const { form, names, message } of patternsOf(group)) {
      const [, ...found] = form.exec(sentence) ?? []
      if (found.length === 0) continue
      return {
        message,
        values: Object.fromEntries(names.map((name, at) => [name, found[at] ?? ''])),
      }
    }
    return undefined
  }
}

const PLACE = /\{(\w+)\}/g

/** Those that say more by themselves come first: a value may be anything. */
function readPatterns(messages: Messages, start: string): Pattern[] {
  return Object.entries(messages)
    .filter(([key]) => key.startsWith(start) && key.includes('{'))
    .map(([key, message = '']) => ({ sentence: key.slice(start.length), message }))
    .sort((a, b) => wordsOf(b.sentence) - wordsOf(a.sentence))
    .map(({ sentence, message }) => ({
      form: new RegExp(
        `^${sentence
          .split(PLACE)
          .map((part, at) => (at % 2 ? '(.+)' : escaped(part)))
          .join('')}$`,
        's',
      ),
      names: [...sentence.matchAll(PLACE)].map(([, name = '']) => name),
      message,
    }))
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const wordsOf = (sentence: string) => sentence.replace(PLACE, '').length
