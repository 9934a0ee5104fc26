/** Catches errors of pages; reloads the panel if the error comes from an older version of it. */
import { Component, type ReactNode } from 'react'
import { ApiFailure } from '../api/failure.ts'
import { Failed } from './states.tsx'

interface Props {
  /** A new address clears the error. */
  readonly address: string
  readonly children: ReactNode
}

interface State {
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

export class Boundary extends Component<Props, State> {
  override state: State = { cause: undefined, address: this.props.address }

  static getDerivedStateFromError(cause: unknown): Partial<State> {
    return { cause: cause ?? new Error('nothing was thrown') }
  }

  static getDerivedStateFromProps({ address }: Props, state: State): State | null {
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
