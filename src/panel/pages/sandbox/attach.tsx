/** What else than text can be put into a chat: files, a place, a poll. */
import { Menu } from '@base-ui/react/menu'
import { useRef, useState } from 'react'
import type { Written } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { NewPlaceDialog } from './new-place.tsx'
import { NewPollDialog } from './new-poll.tsx'

export interface AttachProps {
  readonly disabled: boolean
  take(files: readonly File[]): void
  write(content: Omit<Written, 'to'>): Promise<unknown>
}

export function Attach({ disabled, take, write }: AttachProps) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const [making, setMaking] = useState<'place' | 'poll'>()
  const close = () => setMaking(undefined)
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger
          render={<Button kind="bare" icon="clip" disabled={disabled} />}
          aria-label={t('messenger.attach')}
        />
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} className="over">
            <Menu.Popup className="menu">
              <Menu.Item onClick={() => picker.current?.click()}>
                <Icon name="image" size={16} />
                {t('messenger.files')}
              </Menu.Item>
              <Menu.Item onClick={() => setMaking('place')}>
                <Icon name="pin" size={16} />
                {t('messenger.place')}
              </Menu.Item>
              <Menu.Item onClick={() => setMaking('poll')}>
                <Icon name="poll" size={16} />
                {t('messenger.poll')}
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('messenger.files')}
        onChange={(event) => {
          take([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      {making === 'place' && <NewPlaceDialog write={write} onClose={close} />}
      {making === 'poll' && <NewPollDialog write={write} onClose={close} />}
    </>
  )
}
