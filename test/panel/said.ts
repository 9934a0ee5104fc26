/** The panel's messages in both languages, as it shows them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../src/panel/i18n')
const locales = { en: 'en-GB', fa: 'fa-IR' } as const

export type Said = (key: string, values?: Readonly<Record<string, string | number>>) => string

/** Messages by their keys, with their values in the digits of the language. */
export function saidIn(language: 'en' | 'fa'): Said {
  const files = globSync(`${language}/*.json`, { cwd: root })
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const words: Readonly<Record<string, string>> = Object.assign({}, ...files.map(read))
  const numbers = new Intl.NumberFormat(locales[language])
  return (key, values = {}) => {
    const message = words[key]
    if (message === undefined) throw new Error(`no message ${key}`)
    return message.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name] ?? whole
      return typeof value === 'number' ? numbers.format(value) : value
    })
  }
}
