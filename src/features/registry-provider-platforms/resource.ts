/** What links to the archive of a platform are called after. */
export const BINARY = 'provider-binary'
