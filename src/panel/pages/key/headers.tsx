/** The headers that an owner adds to deliveries, one on each line: values are written here and never shown again. */
import { useT } from '../../i18n/language.tsx'
import { Area } from '../../ui/form.tsx'

/** Stored headers by their names alone: so they stay as they are. */
export const headerLines = (names: readonly string[] = []): string =>
  names.map((name) => `${name}:`).join('\n')

export function headersIn(lines: string): { name: string; value?: string }[] {
  return lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [name = '', ...rest] = line.split(':')
      const value = rest.join(':').trim()
      return { name: name.trim(), ...(value !== '' && { value }) }
    })
}

interface HeaderFieldProps {
  readonly lines: string
  change(lines: string): void
}

export function HeaderField({ lines, change }: HeaderFieldProps) {
  const t = useT()
  return (
    <Area
      label={`${t('webhook.headers')} (${t('optional')})`}
      hint={t('webhook.headers.hint', { most: 10 })}
      className="ltr mono"
      rows={3}
      placeholder="X-Tenant: 7"
      autoComplete="off"
      spellCheck={false}
      value={lines}
      onChange={(event) => change(event.target.value)}
    />
  )
}
