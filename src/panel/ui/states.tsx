/** The states of a page without data: loading, empty, failed, and broken by an error of its own. */
import { Component, type ReactNode } from 'react'
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

interface BoundaryProps {
  /** A new address clears the error. */
  readonly address: string
  readonly children: ReactNode
}

interface BoundaryState {
  readonly cause: unknown
  readonly address: string
}

const RELOADED = 'chapar.reloaded'

/** Files of an older version are missing after an update of the service. */
const isOutdated = (cause: unknown) =>
  cause instanceof TypeError && /dynamically imported module|module script/.test(cause.message)

/** Files are also missing while the service is away: then a reload would leave an empty page. */
async function reloadIfThere(before?: () => void): Promise<void> {
  const isThere = await fetch(location.href, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isThere) return
  before?.()
  location.reload()
}

/** Catches errors of pages; reloads the panel if the error comes from an older version of it. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { cause: undefined, address: this.props.address }

  static getDerivedStateFromError(cause: unknown): Partial<BoundaryState> {
    return { cause: cause ?? new Error('nothing was thrown') }
  }

  static getDerivedStateFromProps(
    { address }: BoundaryProps,
    state: BoundaryState,
  ): BoundaryState | null {
    return address === state.address ? null : { cause: undefined, address }
  }

  override componentDidCatch(cause: unknown): void {
    const { address } = this.props
    if (!isOutdated(cause) || sessionStorage.getItem(RELOADED) === address) return
    reloadIfThere(() => sessionStorage.setItem(RELOADED, address))
  }

  override render(): ReactNode {
    const { cause } = this.state
    if (cause === undefined) return this.props.children
    const shown = isOutdated(cause) ? new ApiFailure(0, '') : cause
    return (
      <div className="page">
        <Failed cause={shown} retry={() => reloadIfThere()} />
      </div>
    )
  }
}
