/** A switch with its name and what it means. */
import { Switch } from '@base-ui/react/switch'
import { useId } from 'react'

export interface ToggleProps {
  readonly label: string
  readonly hint?: string
  readonly on: boolean
  readonly disabled?: boolean
  onChange(on: boolean): void
}

export function Toggle({ label, hint, on, disabled = false, onChange }: ToggleProps) {
  const id = useId()
  return (
    <div className="row spread">
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
