/** Dialogs in which one chooses: one chat, or several people. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Chat, Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import { chatName, personName } from './names.tsx'

interface PickChatProps {
  readonly title: string
  readonly chats: readonly Chat[]
  pick(chat: Chat): Promise<unknown>
  onClose(): void
}

export function PickChatDialog({ title, chats, pick, onClose }: PickChatProps) {
  const t = useT()
  const picking = useMutation({ mutationFn: pick, onSuccess: onClose })
  return (
    <Dialog title={title} open onClose={onClose}>
      <ul className="records pick">
        {chats.map((chat) => (
          <li key={chat.id}>
            <button
              type="button"
              className="record"
              disabled={picking.isPending}
              onClick={() => picking.mutate(chat)}
            >
              <span className="grow clip label">
                <bdi>{chatName(chat)}</bdi>
              </span>
              <span className="quiet small">{t.word('messenger.type', chat.type)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Wrong cause={picking.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
      </div>
    </Dialog>
  )
}

interface PickPeopleProps {
  readonly title: string
  readonly people: readonly Person[]
  readonly most: number
  pick(people: readonly number[]): Promise<unknown>
  onClose(): void
}

export function PickPeopleDialog({ title, people, most, pick, onClose }: PickPeopleProps) {
  const t = useT()
  const [chosen, setChosen] = useState<readonly number[]>([])
  const picking = useMutation({ mutationFn: () => pick(chosen), onSuccess: onClose })
  const isReady = chosen.length > 0 && chosen.length <= most
  const toggle = (id: number) =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
  return (
    <Dialog title={title} open onClose={onClose}>
      <Form by={picking} isReady={isReady}>
        <fieldset className="records pick">
          <legend className="quiet small">{t.count('share.most', most)}</legend>
          {people.map((one) => (
            <label key={one.id} className="record">
              <input
                type="checkbox"
                checked={chosen.includes(one.id)}
                onChange={() => toggle(one.id)}
              />
              <bdi className="grow clip">{personName(one)}</bdi>
            </label>
          ))}
        </fieldset>
        <Wrong cause={picking.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={picking.isPending} disabled={!isReady}>
            {t('messenger.send')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
