/** Dialogs in which one chooses: one chat, several people, or the rights of an administrator. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type AdministratorRight,
  type Chat,
  type GivenRights,
  offeredRights,
  type Person,
  type PersonName,
} from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { chatName, personName } from './names.tsx'

interface PickChatProps {
  readonly title: string
  readonly chats: readonly Chat[]
  /** Resolves with `goes on` where another dialog follows. */
  pick(chat: Chat): Promise<unknown>
  onClose(): void
}

export function PickChatDialog({ title, chats, pick, onClose }: PickChatProps) {
  const t = useT()
  const picking = useMutation({
    mutationFn: pick,
    onSuccess(result) {
      if (result !== 'goes on') onClose()
    },
  })
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

/** All of them, with the kind of chat where the right means something: the compiler names one that is missing. */
const places: Readonly<Record<AdministratorRight, 'any' | 'channel' | 'group'>> = {
  manage_chat: 'any',
  delete_messages: 'any',
  manage_video_chats: 'any',
  restrict_members: 'any',
  promote_members: 'any',
  change_info: 'any',
  invite_users: 'any',
  post_stories: 'any',
  edit_stories: 'any',
  delete_stories: 'any',
  post_messages: 'channel',
  edit_messages: 'channel',
  pin_messages: 'group',
  manage_topics: 'group',
  manage_direct_messages: 'channel',
  manage_tags: 'group',
}
export const allRights = Object.keys(places) as AdministratorRight[]

interface PickRightsProps {
  readonly chat: Pick<Chat, 'id' | 'type'>
  readonly person: PersonName
  /** In the place of those that the bot always asks for. */
  readonly asked?: readonly AdministratorRight[] | undefined
  pick(given: GivenRights): Promise<unknown>
  onClose(): void
}

/** The rights of a new administrator: those that a bot asks for are chosen first. */
export function PickRightsDialog({ chat, person, asked, pick, onClose }: PickRightsProps) {
  const t = useT()
  const offered = useQuery({
    queryKey: ['sandbox', 'offered rights', chat.id, person.id],
    queryFn: () => offeredRights(chat.id, person.id),
    gcTime: 0,
  })
  const [changed, change] = useState<readonly AdministratorRight[]>()
  const kind = chat.type === 'channel' ? 'channel' : 'group'
  const shown = allRights.filter((right) => places[right] === 'any' || places[right] === kind)
  const first = asked ?? offered.data?.rights ?? []
  const chosen = changed ?? shown.filter((right) => first.includes(right))
  const picking = useMutation({
    mutationFn: () =>
      pick({ rights: [...chosen], is_anonymous: offered.data?.is_anonymous ?? false }),
    onSuccess: onClose,
  })
  const toggle = (right: AdministratorRight) =>
    change(chosen.includes(right) ? chosen.filter((one) => one !== right) : [...chosen, right])
  return (
    <Dialog title={t('rights.title', { name: personName(person) })} open onClose={onClose}>
      {offered.isPending && <Loading lines={4} />}
      {offered.data && (
        <Form by={picking}>
          <fieldset className="records pick">
            <legend className="quiet small">{t('rights.lead')}</legend>
            {shown.map((right) => (
              <label key={right} className="record">
                <input
                  type="checkbox"
                  checked={chosen.includes(right)}
                  onChange={() => toggle(right)}
                />
                <span className="grow">{t(`rights.${right}`)}</span>
              </label>
            ))}
          </fieldset>
          <Wrong cause={picking.error} />
          <div className="actions">
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button type="submit" kind="first" busy={picking.isPending}>
              {t('save')}
            </Button>
          </div>
        </Form>
      )}
      <Wrong cause={offered.error} />
    </Dialog>
  )
}
