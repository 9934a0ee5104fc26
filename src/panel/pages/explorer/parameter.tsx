/** The field of one parameter, by its type; a chat is picked from those of the account. */
import { useId, useState } from 'react'
import { useT } from '../../i18n/language.tsx'
import { Choice, Field } from '../../ui/form.tsx'

export interface ReferenceParameter {
  readonly name: string
  readonly type: 'number' | 'string' | 'boolean' | 'chat' | 'file' | 'json'
  readonly required: boolean
}

export interface Chat {
  readonly id: number
  readonly title?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly username?: string
}

/** The value as it is sent; undefined where none is given, null where the text is no such value. */
export function sentValue({ type }: ReferenceParameter, text: string): unknown {
  if (text === '') return undefined
  if (type === 'boolean') return text === 'true'
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : null
  if (type === 'chat') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (type !== 'json') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

interface ParameterProps {
  readonly parameter: ReferenceParameter
  readonly value: string
  readonly chats: readonly Chat[]
  onChange(value: string): void
}

export function Parameter(props: ParameterProps) {
  const t = useT()
  const { parameter, value, chats, onChange } = props
  const { name, type, required } = parameter
  const label = required ? t('try.required', { name }) : name
  const isWrong = sentValue(parameter, value) === null
  if (type === 'boolean') {
    const options = ['', 'true', 'false'].map((one) => [one, one === '' ? '–' : one] as const)
    return <Choice label={label} value={value} options={options} onChange={onChange} />
  }
  if (type === 'chat' && chats.length > 0) return <ChatField {...props} label={label} />
  if (type === 'json' || isLong(name)) {
    return <Area {...props} label={label} wrong={isWrong ? t('try.wrong.json') : undefined} />
  }
  return (
    <Field
      label={label}
      hint={type === 'file' ? t('try.file') : undefined}
      wrong={isWrong ? t('try.wrong.number') : undefined}
      required={required}
      inputMode={type === 'number' ? 'decimal' : undefined}
      dir="auto"
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Texts of messages have several lines. */
const isLong = (name: string) => /^(text|caption|description|question)$/.test(name)

const nameOf = ({ id, title, first_name, last_name, username }: Chat) =>
  title || [first_name, last_name].filter(Boolean).join(' ') || username || `${id}`

const TYPED = 'typed'

/** A chat of the account; another one is typed. */
function ChatField({ value, chats, label, parameter, onChange }: FieldProps) {
  const t = useT()
  const [isTyped, setTyped] = useState(false)
  const isListed = chats.some(({ id }) => `${id}` === value)
  return (
    <>
      <Choice
        label={label}
        value={isTyped || (value !== '' && !isListed) ? TYPED : value}
        options={[
          ['', t('try.chat.choose')],
          ...chats.map(
            (chat) => [`${chat.id}`, `\u2068${nameOf(chat)}\u2069 (${chat.id})`] as const,
          ),
          [TYPED, t('try.chat.typed')],
        ]}
        onChange={(next) => {
          setTyped(next === TYPED)
          onChange(next === TYPED ? '' : next)
        }}
      />
      {(isTyped || (value !== '' && !isListed)) && (
        <Field
          label={t('try.chat.typed')}
          className="ltr"
          required={parameter.required}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </>
  )
}

interface FieldProps extends ParameterProps {
  readonly label: string
  readonly wrong?: string | undefined
}

function Area({ label, value, wrong, parameter, onChange }: FieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={parameter.type === 'json' ? 'input mono ltr' : 'input'}
        dir={parameter.type === 'json' ? undefined : 'auto'}
        rows={3}
        required={parameter.required}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      {wrong && (
        <span id={`${id}-wrong`} className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}
