/** Arrays as PostgreSQL reads them. The driver's own way looks at every single value, which is most of the work here. */

export function numbersText(values: readonly (number | undefined)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`
}

export function textsText(values: readonly (string | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? 'null' : quoted(value))).join(',')}}`
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
