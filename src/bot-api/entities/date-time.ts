/** The display format of a date_time entity, in its canonical order: weekday, date, time. */

/** Undefined if the format has a letter without meaning. */
export function dateTimeFormat(format: string): string | undefined {
  if (/^[rR]$/.test(format)) return 'r'
  if (!/^[tTdDwW]*$/.test(format)) return undefined
  return (/w/i.test(format) ? 'w' : '') + longest(format, 'd') + longest(format, 't')
}

const longest = (format: string, letter: string): string => {
  const long = letter.toUpperCase()
  if (format.includes(long)) return long
  return format.includes(letter) ? letter : ''
}
