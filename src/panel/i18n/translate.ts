/** Messages with their values, plurals by the rules of the language. */
import type { Catalogue, MessageKey } from './en.ts'
import { sentencesOf } from './sentences.ts'

export type Language = 'en' | 'fa'
export type Values = Readonly<Record<string, string | number>>

/** Persian readers expect their calendar and digits; `en-GB` puts days before months. */
export const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fa: 'fa-IR' }

/** Keys like `thing.one` and `thing.other` are spoken of as `thing`. */
export type Countable<Key = MessageKey> = Key extends `${infer Stem}.other` ? Stem : never

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

export interface Translate {
  (key: MessageKey, values?: Values): string
  count(stem: Countable, count: number, values?: Values): string
  /** For sentences of the service: those in the catalogue have a translation, the others are shown as they are. */
  known(group: string, sentence: string): string
  /** For words of the service that may have no message yet: they are shown as they are. */
  word(group: string, word: string): string
}

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

  const sentences = sentencesOf(messages)
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  /** A word of the service, a sentence within a sentence, or a time; names and addresses stay as they are. */
  const shownValue = (group: string, name: string, value: string): string => {
    const word = messages[`${name}.${value}`]
    if (word !== undefined) return word
    if (MOMENT.test(value)) return moments.format(new Date(value))
    if (name === 'count' && /^\d+$/.test(value)) return numbers.format(Number(value))
    return known(group, value)
  }
  const known = (group: string, sentence: string): string => {
    const found = sentences(group, sentence)
    if (!found) return sentence
    const values = Object.entries(found.values).map(
      ([name, value]) => [name, shownValue(group, name, value)] as const,
    )
    return fill(found.message, Object.fromEntries(values))
  }

  return Object.assign((key: MessageKey, values: Values = {}) => fill(catalogue[key], values), {
    count(stem: Countable, count: number, values: Values = {}) {
      const message = messages[`${stem}.${plurals.select(count)}`] ?? messages[`${stem}.other`]
      return fill(message ?? stem, { ...values, count })
    },
    known,
    word: (group: string, word: string) =>
      messages[`${group}.${word}`] ?? word.replaceAll('_', ' '),
  })
}
