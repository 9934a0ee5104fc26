/** Messages with their values, plurals by the rules of the language. */
import type { Coded } from '../api/failure.ts'
import type { Catalogue, MessageKey } from './en.ts'

export type Language = 'en' | 'fa'
type Values = Readonly<Record<string, string | number>>

/** Persian readers expect their calendar and digits; `en-GB` puts days before months. */
export const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fa: 'fa-IR' }

/** Keys like `thing.one` and `thing.other` are used as `thing`. */
type Countable<Key = MessageKey> = Key extends `${infer Stem}.other` ? Stem : never

export interface Translate {
  (key: MessageKey, values?: Values): string
  count(stem: Countable, count: number, values?: Values): string
  /** A sentence of a diagnosis or a health test; `text`, its English, where it has no code or no message here. */
  fact(sentence: Coded | null | undefined, text: string): string
  /** Why the service refused; undefined where there is no message for it. */
  refusal(why: Coded): string | undefined
  /** How a code was sent; `text` is its English. */
  way(way: Coded | undefined, text: string): string
  /** For words of the service that may have no message yet; these are shown as they are. */
  word(group: string, word: string): string
}

/** In a sentence that runs from right to left, names, addresses and English keep their own order. */
const isolated = (text: string) => `\u2068${text}\u2069`

const changed = (values: Values, change: (text: string) => string): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? change(value) : value,
    ]),
  )

export function translator(catalogue: Catalogue, language: Language): Translate {
  const locale = locales[language]
  const numbers = new Intl.NumberFormat(locale)
  const plurals = new Intl.PluralRules(locale)
  const shown = (value: string | number) =>
    typeof value === 'number' ? numbers.format(value) : value
  const fill = (message: string, values: Values) =>
    message.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name]
      return value === undefined ? whole : shown(value)
    })
  const messages: Readonly<Record<string, string | undefined>> = catalogue

  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const refusal = ({ code, params = {} }: Coded) => {
    const message = messages[`refusal.${code}`] ?? messages[`explained.${code}`]
    return message && fill(message, params)
  }
  /** Within a sentence, where a state begins with a small letter. */
  const stateOf = (state: string) => (messages[`state.${state}`] ?? state).toLocaleLowerCase(locale)
  const apart = (text: string) => (language === 'fa' ? isolated(text) : text)
  /** The values as they are shown: times, states and reasons in the language, names and addresses as they are. */
  const shownValues = (params: Values): Values => {
    const { at, state, status, reason, refusal: words } = params
    return {
      ...changed(params, apart),
      ...(at !== undefined && { at: apart(moments.format(new Date(at))) }),
      ...(state !== undefined && { state: stateOf(`${state}`) }),
      ...(status !== undefined && { status: `${status}` }),
      ...(reason !== undefined && { text: messages[`explained.${reason}`] ?? reason }),
      ...(words !== undefined && {
        refusal:
          (reason !== undefined && refusal({ code: `${reason}`, params })) || apart(`${words}`),
      }),
    }
  }

  return Object.assign((key: MessageKey, values: Values = {}) => fill(catalogue[key], values), {
    count(stem: Countable, count: number, values: Values = {}) {
      const message = messages[`${stem}.${plurals.select(count)}`] ?? messages[`${stem}.other`]
      return fill(message ?? stem, { ...values, count })
    },
    fact(sentence: Coded | null | undefined, text: string) {
      const stem = `fact.${sentence?.code}`
      const count = sentence?.params?.count
      const message =
        typeof count === 'number'
          ? (messages[`${stem}.${plurals.select(count)}`] ?? messages[`${stem}.other`])
          : messages[stem]
      return message === undefined ? text : fill(message, shownValues(sentence?.params ?? {}))
    },
    refusal,
    way(way: Coded | undefined, text: string) {
      const message = messages[`way.${way?.code}`]
      return message === undefined ? text : fill(message, way?.params ?? {})
    },
    word: (group: string, word: string) =>
      messages[`${group}.${word}`] ?? word.replaceAll('_', ' '),
  })
}
