/** The keyboard that a bot put below the message field: each key writes its text, or sends what it asks for. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Written } from '../../api/sandbox.ts'
import type { Key, Person, StandingKeyboard } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { NewPlaceDialog } from './new-place.tsx'
import { NewPollDialog } from './new-poll.tsx'

interface ReplyKeyboardProps {
  readonly id: string
  readonly person: Person
  readonly rows: NonNullable<StandingKeyboard['keyboard']>
  write(content: Omit<Written, 'to'>): Promise<unknown>
}

export function ReplyKeyboard({ id, person, rows, write }: ReplyKeyboardProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const [making, setMaking] = useState<'place' | 'poll'>()
  const close = () => setMaking(undefined)
  const pressing = useMutation({
    mutationFn: ({ key }: Placed) =>
      write(key.request_contact ? { contact: contactOf(person) } : { text: key.text }),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const press = (placed: Placed) => {
    const { request_location, request_poll } = placed.key
    if (request_location) setMaking('place')
    else if (request_poll) setMaking('poll')
    else if (!pressing.isPending) pressing.mutate(placed)
  }
  return (
    <div id={id} className="reply-keyboard" role="group" aria-label={t('messenger.keyboard')}>
      {placedIn(rows).map((row) => (
        <div key={row[0]?.place} className="keys">
          {row.map((placed) => {
            const isBeyond = !canBePressed(placed.key)
            return (
              <Button
                key={placed.place}
                disabled={isBeyond}
                busy={pressing.isPending && pressing.variables.place === placed.place}
                onClick={() => press(placed)}
              >
                <span>
                  <bdi>{placed.key.text}</bdi>
                  {isBeyond && <span className="quiet tiny">{t('messenger.keyBeyond')}</span>}
                </span>
              </Button>
            )
          })}
        </div>
      ))}
      {making === 'place' && <NewPlaceDialog write={write} onClose={close} />}
      {making === 'poll' && <NewPollDialog write={write} onClose={close} />}
    </div>
  )
}

/** Two keys may say the same: a key is known by where it is. */
interface Placed {
  readonly place: string
  readonly key: Key
}

const placedIn = (rows: ReplyKeyboardProps['rows']): readonly (readonly Placed[])[] =>
  rows.map((row, y) => row.map((key, x) => ({ place: `${y} ${x}`, key })))

/** Here is nobody to be chosen, no app to be opened, and no quiz to be made. */
const canBePressed = (key: Key): boolean => {
  const { request_users, request_chat, request_managed_bot, web_app, request_poll } = key
  const beyond = request_users || request_chat || request_managed_bot || web_app
  return !beyond && request_poll?.type !== 'quiz'
}

const contactOf = ({ id, phone, first_name, last_name }: Person) => ({
  phone_number: phone,
  first_name,
  ...(last_name && { last_name }),
  user_id: id,
})

interface Keys {
  readonly rows: NonNullable<StandingKeyboard['keyboard']>
  readonly placeholder: string | undefined
  readonly isOpen: boolean
  /** There is something to be hidden and called back. */
  readonly canHide: boolean
  toggle(): void
}

/** Whether the keys that a bot put below the message field are shown there or hidden. */
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
