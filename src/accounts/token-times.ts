/** How long an access token is good, and how far clocks may differ. */
export const LIFETIME_SECONDS = 600
export const LEEWAY_SECONDS = 30
