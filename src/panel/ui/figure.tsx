/** A number with its name, to stand in a list of figures. */
import { Switch } from '@base-ui/react/switch'
import { type ReactNode, useId } from 'react'
import type { Tone } from './badge.tsx'

interface ToggleProps {
  readonly label: string
  readonly hint?: string
  readonly on: boolean
  readonly disabled?: boolean
  onChange(on: boolean): void
}

/** A switch with its name and what it means. */
export function Toggle({ label, hint, on, disabled = false, onChange }: ToggleProps) {
  const id = useId()
  return (
    <div className="row spread held">
      <div className="grow">
        <div id={`${id}-label`} className="label">
          {label}
        </div>
        {hint && (
          <div id={`${id}-hint`} className="quiet small">
            {hint}
          </div>
        )}
      </div>
      <Switch.Root
        className="switch"
        checked={on}
        disabled={disabled}
        onCheckedChange={(checked) => onChange(checked)}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
      >
        <Switch.Thumb />
      </Switch.Root>
    </div>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: ReactNode
  readonly tone?: Tone | undefined
}

export const Figure = ({ name, value, tone }: FigureProps) => (
  <div className={tone ? `figure tone-${tone}` : 'figure'}>
    <dt className="quiet small">{name}</dt>
    <dd>{value}</dd>
  </div>
)
