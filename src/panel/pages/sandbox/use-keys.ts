/** Whether the keys that a bot put below the message field are shown there or hidden. */
import { useState } from 'react'
import type { StandingKeyboard } from '../../api/sandbox-types.ts'

export interface Keys {
  readonly rows: NonNullable<StandingKeyboard['keyboard']>
  readonly placeholder: string | undefined
  readonly isOpen: boolean
  /** There is something to be hidden and called back. */
  readonly canHide: boolean
  toggle(): void
}

export function useKeys(standing: StandingKeyboard | undefined): Keys {
  const [chosen, setChosen] = useState<{ readonly of: string; readonly isOpen: boolean }>()
  const rows = standing?.keyboard ?? []
  const hasKeys = rows.length > 0
  const isUsed = standing?.used ?? false
  const isFixed = (standing?.is_persistent ?? false) && !isUsed
  // What was chosen for one keyboard says nothing of the next, nor of this one after its use.
  const of = `${standing?.message_id} ${isUsed}`
  const isOpen = hasKeys && (isFixed || (chosen?.of === of ? chosen.isOpen : !isUsed))
  return {
    rows,
    placeholder: isOpen || !hasKeys ? standing?.input_field_placeholder : undefined,
    isOpen,
    canHide: hasKeys && !isFixed,
    toggle: () => setChosen({ of, isOpen: !isOpen }),
  }
}
