/** The states of a page without data: loading, empty, failed. */
import type { ReactNode } from 'react'
import { ApiFailure, detailOf, isCoded } from '../api/failure.ts'
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
    const { status, why, retryAfter, message } = cause
    if (status === 0) return t('failure.unreachable')
    const said = why && t.refusal(why)
    if (said !== undefined) return said
    if (status === 429) return t('failure.tooMany', { seconds: retryAfter ?? 1 })
    const detail = detailOf(cause)
    if (detail !== '') return detail
    if (status === 404) return t('failure.notFound')
    return status === 500 ? t('failure.internal') : message
  }
}

/** The problem of one field, if the service refused it. */
export function useFieldReason(): (cause: unknown, name: string) => string | undefined {
  const t = useT()
  return (cause, name) => {
    if (!(cause instanceof ApiFailure)) return undefined
    const wrong = cause.fields.find(({ field }) => field === name)
    return wrong && ((isCoded(wrong) ? t.refusal(wrong) : undefined) ?? wrong.reason)
  }
}

/** The failure of the last try, shown beside its button; nothing if there is none. */
export function Wrong({ cause }: { readonly cause: unknown }) {
  const reason = useReason()
  return cause ? (
    <p className="wrong" role="alert">
      {reason(cause)}
    </p>
  ) : null
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
