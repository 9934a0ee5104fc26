/** The reasons a credential does not work for, in plain words, each with what to do. */

interface Explained {
  readonly text: string
  readonly remedy: string
}

const LINK_AGAIN = 'Link the account again with POST /platforms/{platform}/link/start'
const WAIT = 'Wait: the service keeps trying by itself'
const RESTART = 'Restart it with POST /platforms/credentials/{credential_id}/restart'

const reasons: Readonly<Record<string, Explained>> = {
  network: { text: 'The platform cannot be reached', remedy: WAIT },
  bad_answer: {
    text: 'What answers for the platform is not its API, or has an error of its own',
    remedy: WAIT,
  },
  bad_certificate: {
    text: 'The certificate of the platform is not to be trusted',
    remedy: `${WAIT}; if it lasts, whoever runs the platform has to renew it`,
  },
  no_encryption: {
    text: 'The platform offers no encryption',
    remedy: 'Whoever runs the platform has to turn encryption on',
  },
  server_unproven: {
    text: 'The platform did not prove that it knows the password',
    remedy: 'Make sure that the address is the right one: somebody may stand in between',
  },
  no_traffic: {
    text: 'The connection stands, but nothing comes through it',
    remedy: `${WAIT}; if it lasts, the platform has a disturbance`,
  },
  flood_wait: {
    text: 'The platform restricts the account because it sent too much',
    remedy: 'Wait until the restriction ends, and send less',
  },
  session_revoked: { text: 'The session was ended on the platform', remedy: LINK_AGAIN },
  account_banned: {
    text: 'The platform has banned the account',
    remedy: 'Contact the platform: nothing here can undo it',
  },
  replaced_elsewhere: {
    text: 'Another client took the session over',
    remedy: `End the other client, then link again or restart. ${RESTART}`,
  },
  secrets_unreadable: {
    text: 'What is stored of the session cannot be read',
    remedy: LINK_AGAIN,
  },
  crash_loop: {
    text: 'The account crashed again and again; it is tried every five minutes',
    remedy: `${RESTART}, and report it if it comes back`,
  },
  platform_unavailable: {
    text: 'The platform is not set up on this server',
    remedy: 'Ask whoever runs the server to set the platform up',
  },
  events_not_stored: { text: 'Events could not be stored', remedy: WAIT },
  storage: { text: 'The database of the service does not answer', remedy: WAIT },
}

const actions: Readonly<Record<string, string>> = {
  none: WAIT,
  wait: WAIT,
  link_again: LINK_AGAIN,
  restart: RESTART,
  contact_platform: 'Contact the platform',
}

/** A reason of a platform that is not known here is shown as it is. */
export const explained = (reason: string | null, action: string): Explained => {
  const known = reason === null ? undefined : reasons[reason]
  return (
    known ?? {
      text: reason === null ? 'The account is connecting' : `The platform says: ${reason}`,
      remedy: actions[action] ?? WAIT,
    }
  )
}
