/** What a page shows when there is nothing yet, nothing at all, or something went wrong. */
import type { ReactNode } from 'react'
import { ApiFailure, plainText } from '../api/failure.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div className="empty">
      <span className="mark">
        <Icon name={icon} size={24} />
      </span>
      <p className="label">{title}</p>
      {children && <p className="quiet small">{children}</p>}
      {action}
    </div>
  )
}

const bars = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Grey bars where the content will be, so that nothing jumps when it comes. */
export function Loading({ lines = 3 }: { readonly lines?: number }) {
  const t = useT()
  return (
    <div className="loading" role="status">
      <span className="unseen">{t('loading')}</span>
      {bars.slice(0, lines).map((bar) => (
        <span key={bar} className="bar" />
      ))}
    </div>
  )
}

export function useReason(): (cause: unknown) => string {
  const t = useT()
  return (cause) => {
    if (!(cause instanceof ApiFailure)) return t('failure.unknown')
    if (cause.status === 0) return t('failure.unreachable')
    // What the service says of it tells more, where it says anything.
    if (!isBare(cause)) return t.known('refusal', plainText(cause))
    if (cause.status === 429) return t('failure.tooMany', { seconds: cause.retryAfter ?? 1 })
    return cause.status === 404 ? t('failure.notFound') : t.known('refusal', plainText(cause))
  }
}

const isBare = ({ status, message }: ApiFailure) =>
  (status === 429 && /^Too Many Requests(: retry after \d+)?$/.test(message)) ||
  (status === 404 && /^(Not Found|404)$/.test(message))

/** What is wrong with one field, if the service refused it. */
export function useFieldReason(): (cause: unknown, name: string) => string | undefined {
  const t = useT()
  return (cause, name) => {
    if (!(cause instanceof ApiFailure)) return undefined
    const wrong = cause.fields.find(({ field }) => field === name)
    if (!wrong) return undefined
    const sentence = `field "${name}" ${wrong.reason}`
    const known = t.known('refusal', sentence)
    return known === sentence ? wrong.reason : known
  }
}

export function Failed({ cause, retry }: { readonly cause: unknown; readonly retry?: () => void }) {
  const t = useT()
  const reason = useReason()
  return (
    <div className="empty" role="alert">
      <span className="mark tone-bad">
        <Icon name="warning" size={24} />
      </span>
      <p className="label">{t('failure.title')}</p>
      <p className="quiet small">{reason(cause)}</p>
      {retry && (
        <Button icon="restart" onClick={retry}>
          {t('retry')}
        </Button>
      )}
    </div>
  )
}

export function Notice({
  tone = 'idle',
  children,
}: {
  readonly tone?: 'idle' | 'good' | 'busy' | 'warn' | 'bad'
  readonly children: ReactNode
}) {
  return (
    <div className={`notice tone-${tone}`}>
      <Icon
        name={tone === 'good' ? 'check' : tone === 'idle' || tone === 'busy' ? 'info' : 'warning'}
      />
      <div className="grow stack tight">{children}</div>
    </div>
  )
}
