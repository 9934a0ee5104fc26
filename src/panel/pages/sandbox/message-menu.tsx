/** What can be done with a message. */
import { Menu } from '@base-ui/react/menu'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'

const emoji = ['👍', '❤', '🔥', '😁', '😢', '🎉']

interface MessageMenuProps {
  readonly isOwn: boolean
  readonly canEdit: boolean
  /** This person's own reaction. */
  readonly reaction: string | undefined
  reply(): void
  edit(): void
  forward(): void
  remove(): void
  react(emoji: string | undefined): void
}

export function MessageMenu(props: MessageMenuProps) {
  const { isOwn, canEdit, reaction, reply, edit, forward, remove, react } = props
  const t = useT()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={<Button kind="bare" size="slim" icon="more" />}
        aria-label={t('messenger.actions')}
      />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="over">
          <Menu.Popup className="menu">
            <div className="reactions">
              {emoji.map((one) => (
                <Menu.Item
                  key={one}
                  aria-label={t('messenger.react', { emoji: one })}
                  className={one === reaction ? 'chosen' : ''}
                  onClick={() => react(one === reaction ? undefined : one)}
                >
                  {one}
                </Menu.Item>
              ))}
            </div>
            <Item icon="reply" text={t('messenger.reply')} act={reply} />
            <Item icon="forward" text={t('messenger.forward')} act={forward} />
            {canEdit && <Item icon="edit" text={t('messenger.edit')} act={edit} />}
            {isOwn && <Item icon="trash" text={t('messenger.delete')} act={remove} />}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

function Item({
  icon,
  text,
  act,
}: {
  readonly icon: IconName
  readonly text: string
  act(): void
}) {
  return (
    <Menu.Item onClick={act}>
      <Icon name={icon} size={16} />
      {text}
    </Menu.Item>
  )
}
