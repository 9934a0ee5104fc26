/** Forms: one that is sent by a mutation, once at a time, and its labelled inputs. */
import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type TextareaHTMLAttributes,
  useId,
} from 'react'

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string
  readonly hint?: ReactNode
  readonly wrong?: string | undefined
  readonly ref?: Ref<HTMLInputElement>
}

/** A labelled input with its hint and what is wrong with it. */
export function Field({ label, hint, wrong, className = '', ...input }: FieldProps) {
  const id = useId()
  const described = [hint ? `${id}-hint` : '', wrong ? `${id}-wrong` : ''].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        className={`input ${className}`}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={described || undefined}
      />
      {hint && (
        <span id={`${id}-hint`} className="hint">
          {hint}
        </span>
      )}
      {wrong && (
        <span id={`${id}-wrong`} className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}

interface AreaProps extends TextareaHTMLAttributes<HTMLTextAreaElement> {
  readonly label: string
  readonly hint: string
}

/** A labelled input of several lines, with its hint. */
export function Area({ label, hint, className = '', ...input }: AreaProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        {...input}
        id={id}
        className={`input ${className}`}
        aria-describedby={`${id}-hint`}
      />
      <span id={`${id}-hint`} className="hint">
        {hint}
      </span>
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly hidesLabel?: boolean
  onChange(value: string): void
}

/** A plain select: the system's own list is the best one on a phone. */
export function Choice({ label, value, options, hidesLabel = false, onChange }: ChoiceProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id} className={hidesLabel ? 'unseen' : ''}>
        {label}
      </label>
      <select
        id={id}
        className="input"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface ChecksProps {
  readonly label: string
  /** Each with its explanation. */
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly chosen: readonly string[]
  onChange(chosen: readonly string[]): void
}

/** Several of a few names, in their order. */
export function Checks({ label, options, chosen, onChange }: ChecksProps) {
  const next = (changed: string, isOn: boolean) =>
    options
      .map(([value]) => value)
      .filter((value) => (value === changed ? isOn : chosen.includes(value)))
  return (
    <fieldset className="group stack tight">
      <legend className="label">{label}</legend>
      {options.map(([value, text]) => (
        <label key={value} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) => onChange(next(value, event.target.checked))}
          />
          <span>
            <span className="mono">{value}</span>
            <span className="quiet small block">{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

interface FormProps {
  readonly by: { readonly isPending: boolean; mutate(): void }
  readonly isReady?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function Form({ by, isReady = true, className = 'stack', children }: FormProps) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !by.isPending) by.mutate()
      }}
    >
      {children}
    </form>
  )
}
