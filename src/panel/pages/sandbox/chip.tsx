/** What goes along with the text, until it is taken off. */
import type { ReactNode } from 'react'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'

export interface ChipProps {
  readonly children: ReactNode
  onDrop(): void
}

export function Chip({ children, onDrop }: ChipProps) {
  const t = useT()
  return (
    <div className="chip">
      <span className="grow clip" dir="auto">
        {children}
      </span>
      <Button kind="bare" size="slim" icon="cross" aria-label={t('cancel')} onClick={onDrop} />
    </div>
  )
}
