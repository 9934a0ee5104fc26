/** Words on accounts: as a filter of the list, and put on or taken off all that are chosen. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { CredentialGroups } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'

interface TagsProps {
  readonly groups: CredentialGroups | undefined
  /** The tags that are filtered by, with commas between. */
  readonly given: string | undefined
  set(changes: { readonly tag: string }): void
}

export function Tags({ groups, given, set }: TagsProps) {
  const t = useT()
  const { number } = useFormats()
  const picked = given?.split(',') ?? []
  const counts = groups?.by_tag ?? {}
  const all = [...new Set([...Object.keys(counts), ...picked])].sort()
  if (all.length === 0) return null
  const toggle = (one: string) =>
    picked.includes(one) ? picked.filter((other) => other !== one) : [...picked, one]
  return (
    <ul className="chips" aria-label={t('tags.title')}>
      {all.map((one) => (
        <li key={one}>
          <button
            type="button"
            className="chip"
            aria-pressed={picked.includes(one)}
            onClick={() => set({ tag: toggle(one).join(',') })}
          >
            <strong className="number">{number(counts[one] ?? 0)}</strong>
            <bdi>#{one}</bdi>
          </button>
        </li>
      ))}
    </ul>
  )
}

interface TagButtonProps {
  /** The accounts, as the service wants them named. */
  readonly chosen: object
  readonly count: number
}

export function TagButton({ chosen, count }: TagButtonProps) {
  const t = useT()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="slim" onClick={() => setOpen(true)}>
        {t('tags.change')}
      </Button>
      {isOpen && <Changing chosen={chosen} count={count} onClose={() => setOpen(false)} />}
    </>
  )
}

const wordsOf = (text: string) => text.split(/[\s,،#]+/).filter(Boolean)

function Changing({ chosen, count, onClose }: TagButtonProps & { onClose(): void }) {
  const t = useT()
  const queries = useQueryClient()
  const [added, setAdded] = useState('')
  const [removed, setRemoved] = useState('')
  const [add, remove] = [wordsOf(added), wordsOf(removed)]
  const changing = useMutation({
    mutationFn: () =>
      call('POST', '/platforms/credentials/tags', { body: { ...chosen, add, remove } }),
    async onSuccess() {
      for (const key of ['credentials', 'groups', 'credential']) {
        queries.invalidateQueries({ queryKey: [key] })
      }
      onClose()
    },
  })
  return (
    <Dialog title={t.count('tags.of', count)} open onClose={onClose}>
      <Form by={changing} isReady={add.length + remove.length > 0}>
        <Field
          label={t('tags.add')}
          hint={t('tags.hint')}
          value={added}
          autoFocus
          autoComplete="off"
          onChange={(event) => setAdded(event.target.value)}
        />
        <Field
          label={t('tags.remove')}
          value={removed}
          autoComplete="off"
          onChange={(event) => setRemoved(event.target.value)}
        />
        <Wrong cause={changing.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            type="submit"
            kind="first"
            busy={changing.isPending}
            disabled={add.length + remove.length === 0}
          >
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
