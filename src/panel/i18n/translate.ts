/** Messages with their values, plurals by the rules of the language. */
import type { Catalogue, MessageKey } from './en.ts'

export type Language = 'en' | 'fa'
export type Values = Readonly<Record<string, string | number>>

/** Persian readers expect their calendar and digits; `en-GB` puts days before months. */
export const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fa: 'fa-IR' }

/** Keys like `thing.one` and `thing.other` are spoken of as `thing`. */
export type Countable<Key = MessageKey> = Key extends `${infer Stem}.other` ? Stem : never

export interface Translate {
  (key: MessageKey, values?: Values): string
  count(stem: Countable, count: number, values?: Values): string
  /** For sentences of the service: the best known have a translation. */
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

  return Object.assign((key: MessageKey, values: Values = {}) => fill(catalogue[key], values), {
    count(stem: Countable, count: number, values: Values = {}) {
      const message = messages[`${stem}.${plurals.select(count)}`] ?? messages[`${stem}.other`]
      return fill(message ?? stem, { ...values, count })
    },
    known: (group: string, sentence: string) => messages[`${group}.${sentence}`] ?? sentence,
    word: (group: string, word: string) =>
      messages[`${group}.${word}`] ?? word.replaceAll('_', ' '),
  })
}
